import { GLOBAL_PAUSE } from '../api/names.ts';
import type { SyncContext } from './sync-controller.ts';

/** pauseReason returns why an IgnitionSync is paused, and how to resume it. Undefined if it is not. */
export async function pauseReason({ object, deps, signal }: SyncContext): Promise<string | undefined> {
  if (object.spec.paused) return 'spec.paused is true; set it to false to resume';
  if (!(await deps.pause.isPaused(signal))) return undefined;
  return `ConfigMap ${GLOBAL_PAUSE.name} in the namespace of the manager pauses every IgnitionSync; set its key ${GLOBAL_PAUSE.key} to "false", or delete it`;
}
