import type { KubernetesObject } from '@bowline/kubernetes';
import { Option } from 'commander';
import { stringify } from 'yaml';

/** ObjectFormat is how objects are printed. */
export type ObjectFormat = 'yaml' | 'json';

/** objectFormatOption is `-o` for objects. */
export function objectFormatOption(): Option {
  return new Option('-o, --output <format>', 'how to print').choices(['yaml', 'json']).default('yaml');
}

/** printObjects is text that `kubectl apply -f -` takes: YAML documents, or one List. */
export function printObjects(objects: readonly KubernetesObject[], format: ObjectFormat): string {
  if (format === 'json') return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }, null, 2)}\n`;
  // Kubernetes reads YAML 1.1, where `on` and `1_000` have to be quoted to be texts.
  const options = { aliasDuplicateObjects: false, lineWidth: 0, version: '1.1' } as const;
  return objects.map((object) => `---\n${stringify(object, options).replace(/^%YAML 1\.1\n---\n/, '')}`).join('');
}
