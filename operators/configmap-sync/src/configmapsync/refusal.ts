import { terminal } from '@bowline/runtime';
import type { TerminalError } from '@bowline/runtime/controller';
import type { SyncContext } from './watching.ts';

/** refusal is the end of a run that has read and written nothing, because only a person can help. */
export function refusal({ status }: SyncContext, reason: string, message: string): TerminalError {
  status.set({ syncStatus: 'Failed', message });
  status.condition('Synced', false, 'SyncFailed', message);
  return terminal(reason, message);
}
