import type { KubernetesObject } from '@bowline/kubernetes';
import type { WatchEvent } from '../client/client.ts';

/** The bookmark that ends the initial state of a watch carries this annotation with the value "true" (KEP-3157). */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** ReadEvent is a watch event as a reflector sees it. */
export type ReadEvent =
  | { readonly kind: 'upsert' | 'delete'; readonly version: string }
  | { readonly kind: 'bookmark'; readonly version: string; readonly endsInitialState: boolean }
  | { readonly kind: 'skip'; readonly why: string };

/** readEvent reads what a reflector needs of an event; one that it cannot place is skipped, never stored. */
export function readEvent(event: WatchEvent<KubernetesObject>): ReadEvent {
  const metadata = event.object.metadata;
  const version = metadata?.resourceVersion;
  if (!version) return { kind: 'skip', why: 'no metadata.resourceVersion' };
  if (event.type === 'BOOKMARK') {
    const endsInitialState = metadata.annotations?.[INITIAL_EVENTS_END] === 'true';
    return { kind: 'bookmark', version, endsInitialState };
  }
  if (!metadata.name) return { kind: 'skip', why: 'no metadata.name' };
  return { kind: event.type === 'DELETED' ? 'delete' : 'upsert', version };
}
