import type { Pod } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';

const ENTRY = /^metadata\.(labels|annotations)\['([^']+)'\]$/;

/** podField returns a field of a pod as the downward API does. */
export function podField({ metadata = {} }: Pod, path: string): string {
  const [, map, key = ''] = ENTRY.exec(path) ?? [];
  if (map === 'labels' || map === 'annotations') return metadata[map]?.[key] ?? '';
  switch (path) {
    case 'metadata.name':
      return metadata.name ?? '';
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    case 'metadata.labels':
      return lines(metadata.labels);
    case 'metadata.annotations':
      return lines(metadata.annotations);
    default:
      throw new BowlineError(
        'BOWLINE_SIDECAR_UNSUPPORTED',
        `cannot run a container of the pod ${metadata.name} as a process: its field ${path} is not supported; use one of metadata`,
      );
  }
}

/** JSON has the same escapes as strings of Go, except for those of control characters, which both can read. */
function lines(map: Readonly<Record<string, string>> = {}): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}=${JSON.stringify(map[key])}\n`)
    .join('');
}
