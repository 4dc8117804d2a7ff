import { stringify } from 'yaml';
import { readJson } from '../json/canonical-json.ts';

/** yamlText is a text of JSON as YAML, written so that readers of YAML 1.1 take words for what they are. */
export function yamlText(json: string): string {
  const options = { version: '1.1', indentSeq: false, sortMapEntries: true, aliasDuplicateObjects: false } as const;
  return stringify(readJson(json), options);
}
