import type { Operator } from '@bowline/runtime';
import { stringify } from 'yaml';
import type { Settings } from '../config/settings.ts';

/**
 * configText is bowline.yaml as a pod reads it: what was given, for the operators that it runs. The namespace is left out, because
 * a pod knows its own.
 */
export function configText({ given, sections }: Settings, operators: readonly Operator[]): string {
  const { namespace: _, ...settings } = given;
  const names = operators.map(({ name }) => name);
  const others = Object.keys(sections).filter((name) => !names.includes(name));
  const kept = Object.fromEntries(Object.entries(settings).filter(([field]) => !others.includes(field)));
  return stringify(
    { ...kept, operators: names },
    { sortMapEntries: true, aliasDuplicateObjects: false, version: '1.1' },
  );
}
