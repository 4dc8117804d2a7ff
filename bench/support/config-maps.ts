import { integerBelow, seededRandom } from '@bowline/machinery';
import { type Api, inParallel } from './api.ts';

const writesInFlight = 24;

/** SampleConfigMap is one of the objects that fill the caches. */
export interface SampleConfigMap {
  readonly apiVersion: 'v1';
  readonly kind: 'ConfigMap';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly data: Readonly<Record<string, string>>;
}

/**
 * sampleConfigMap returns the object with this index: about 1.3 kB as sent by the server without managedFields, with several
 * keys, and with contents that no two objects share, so that neither side benefits from deduplicating strings.
 */
export function sampleConfigMap(index: number, namespace: string): SampleConfigMap {
  const word = words(index);
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: `settings-${String(index).padStart(5, '0')}`,
      namespace,
      labels: {
        'app.kubernetes.io/name': `service-${index % 97}`,
        'app.kubernetes.io/instance': word(),
        'app.kubernetes.io/managed-by': 'bowline-bench',
      },
      annotations: { 'bench.bowline.dev/note': `${word()} ${word()} ${word()}` },
    },
    data: {
      'application.yaml': Array.from({ length: 24 }, () => `${word()}: ${word()}-${word()}`).join('\n'),
      'log.level': word(),
      endpoint: `https://${word()}.example.test:8443/${word()}`,
      features: Array.from({ length: 6 }, word).join(','),
    },
  };
}

/** words returns words of eight letters from a fixed seed, so that every run has the same objects. */
function words(seed: number): () => string {
  const random = seededRandom(seed);
  const letter = (): string => String.fromCharCode(97 + integerBelow(random, 26));
  return () => Array.from({ length: 8 }, letter).join('');
}

/** createNamespaces creates the namespaces unless they exist. */
export async function createNamespaces(api: Api, names: readonly string[]): Promise<void> {
  await inParallel(names, writesInFlight, async (name) => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await api.ok('POST', '/api/v1/namespaces', namespace, undefined, [409]);
  });
}

/** createConfigMaps creates `count` objects, spread over the namespaces, unless they exist. */
export async function createConfigMaps(api: Api, count: number, namespaces: readonly string[]): Promise<void> {
  const indexes = Array.from({ length: count }, (_, index) => index);
  await inParallel(indexes, writesInFlight, async (index) => {
    const namespace = namespaces[index % namespaces.length] ?? 'default';
    const path = `/api/v1/namespaces/${namespace}/configmaps?fieldManager=bowline-bench`;
    await api.ok('POST', path, sampleConfigMap(index, namespace), undefined, [409]);
  });
}
