import { terminal } from '@bowline/runtime';
import type { TerminalError } from '@bowline/runtime/controller';
import type { SyncContext } from './sync-controller.ts';

/** refusal returns the error of a run that has read and written nothing, because it needs human intervention. */
export function refusal({ status }: SyncContext, reason: string, message: string): TerminalError {
  status.set({ syncStatus: 'Failed', message });
  status.condition('Synced', false, 'SyncFailed', message);
  return terminal(reason, message);
}
