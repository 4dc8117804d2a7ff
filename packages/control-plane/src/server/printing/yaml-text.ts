import { readJson } from '@bowline/machinery';
import { stringify } from 'yaml';

/** yamlText converts JSON text to YAML that YAML 1.1 parsers read correctly: strings such as `yes` stay strings. */
export function yamlText(json: string): string {
  const options = { version: '1.1', indentSeq: false, sortMapEntries: true, aliasDuplicateObjects: false } as const;
  return stringify(readJson(json), options);
}
