import type { Pod } from '@bowline/kubernetes';

/** The current time in all tests of pure decisions. */
export const NOW = Date.parse('2026-01-01T01:00:00Z');

/** PodTraits holds the differences between the Pods of a test. */
export interface PodTraits {
  readonly name: string;
  readonly node?: string;
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  /** When it became ready; undefined if it is not ready. */
  readonly readySince?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly isTerminating?: boolean;
  readonly restarts?: number;
  readonly createdAt?: string;
}

/** podWith builds a Pod from its traits. */
export function podWith(traits: PodTraits): Pod {
  const { name, node, phase = 'Running', readySince, labels, annotations, finalizers } = traits;
  const createdAt = traits.createdAt ?? '2026-01-01T00:00:00Z';
  return {
    metadata: {
      name,
      namespace: 'a',
      uid: `uid-${name}`,
      creationTimestamp: createdAt,
      labels,
      annotations,
      finalizers,
      ...(traits.isTerminating ? { deletionTimestamp: '2026-01-01T00:59:00Z' } : {}),
    },
    spec: { containers: [{ name: 'main', image: 'x' }], ...(node === undefined ? {} : { nodeName: node }) },
    status: {
      phase,
      conditions: [
        {
          type: 'Ready',
          status: readySince === undefined ? 'False' : 'True',
          lastTransitionTime: readySince ?? createdAt,
        },
      ],
      containerStatuses: [
        { name: 'main', image: 'x', imageID: '', ready: readySince !== undefined, restartCount: traits.restarts ?? 0 },
      ],
    },
  };
}

/** READY is a time that is long enough ago for every test. */
export const READY = '2026-01-01T00:10:00Z';
