import { isConflict, isInvalid, isNotFound } from '@bowline/runtime/client';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS } from '../api/names.ts';
import { type EffectiveRef, effectiveRef } from '../source/effective-ref.ts';
import type { SyncContext } from './sync-controller.ts';

/** requestOf returns the ref to sync. */
export function requestOf({ spec, metadata, status }: IgnitionSync): EffectiveRef {
  return effectiveRef({ specRef: spec.git.ref, annotations: metadata?.annotations, handled: status?.request });
}

/**
 * syncTrigger returns a text that changes when somebody requests a sync. An approval is not part of it: it changes the plan of
 * the gateways that waited for it, and the others must not sync again.
 */
export function syncTrigger(annotations: Readonly<Record<string, string>> | undefined): string {
  const { requestedAt, retry } = CR_ANNOTATIONS;
  const parts = [annotations?.[requestedAt], annotations?.[retry]].filter((part) => part !== undefined && part !== '');
  return parts.join(' ').slice(0, 512);
}

/**
 * endRequest removes the annotation requested-ref, unless it was changed. It is a patch of the primary object's own metadata,
 * for which the runtime has no verb.
 */
export async function endRequest({ live, key }: SyncContext, value: string): Promise<void> {
  const path = `/metadata/annotations/${CR_ANNOTATIONS.requestedRef.replace('/', '~1')}`;
  const body = [
    { op: 'test', path, value },
    { op: 'remove', path },
  ] as const;
  try {
    await live.patch(IgnitionSync, key, { type: 'json', body });
  } catch (error) {
    // It was changed or removed meanwhile, which causes another run.
    if (!isConflict(error) && !isInvalid(error) && !isNotFound(error)) throw error;
  }
}
