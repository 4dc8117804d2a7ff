import type { KubernetesObject } from '@bowline/kubernetes';
import type { WatchEvent } from '../client/client.ts';

/** The bookmark that ends the initial state of a watch carries this annotation with the value "true" (KEP-3157). */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Observation is a watch event in the form a reflector uses. */
export interface Observation {
  readonly kind: 'upsert' | 'delete' | 'bookmark';
  readonly version: string;
  readonly object: KubernetesObject;
  /** An object that was added or is part of the initial state, which arrives in no order. */
  readonly added: boolean;
  readonly endsInitialState: boolean;
}

/**
 * observationsIn parses the events of a batch; an event that cannot be assigned to the kind is skipped, never stored.
 */
export function observationsIn(
  batch: readonly WatchEvent<KubernetesObject>[],
  skipped: (why: string) => void,
): readonly Observation[] {
  const observations: Observation[] = [];
  for (const { type, object } of batch) {
    const metadata = object.metadata;
    const version = metadata?.resourceVersion;
    if (!version) {
      skipped('no metadata.resourceVersion');
    } else if (type === 'BOOKMARK') {
      const endsInitialState = metadata.annotations?.[INITIAL_EVENTS_END] === 'true';
      observations.push({ kind: 'bookmark', version, object, added: false, endsInitialState });
    } else if (!metadata.name) {
      skipped('no metadata.name');
    } else {
      const kind = type === 'DELETED' ? 'delete' : 'upsert';
      observations.push({ kind, version, object, added: type === 'ADDED', endsInitialState: false });
    }
  }
  return observations;
}
