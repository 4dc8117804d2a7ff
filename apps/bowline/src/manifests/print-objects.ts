import type { KubernetesObject } from '@bowline/kubernetes';
import { stringify } from 'yaml';
import type { OutputFormat } from '../terminal/output-format.ts';
import { formatTable } from '../terminal/table.ts';

/**
 * printObjects formats objects: as YAML documents or one List, which `kubectl apply -f -` accepts, or as a table of
 * kinds, namespaces and names.
 */
export function printObjects(objects: readonly KubernetesObject[], format: OutputFormat): string {
  if (format === 'json') return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }, null, 2)}\n`;
  if (format === 'table') return objectTable(objects);
  // Kubernetes reads YAML 1.1, where `on` and `1_000` must be quoted to be strings.
  const options = { aliasDuplicateObjects: false, lineWidth: 0, version: '1.1' } as const;
  return objects.map((object) => `---\n${stringify(object, options).replace(/^%YAML 1\.1\n---\n/, '')}`).join('');
}

function objectTable(objects: readonly KubernetesObject[]): string {
  if (objects.length === 0) return '';
  const rows = objects.map(({ kind = '', metadata }) => [kind, metadata?.namespace ?? '', metadata?.name ?? '']);
  return formatTable(['Kind', 'Namespace', 'Name'], rows);
}
