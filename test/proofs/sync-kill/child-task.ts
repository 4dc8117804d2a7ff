import type { SyncStep } from '../../../operators/ignition-sync/src/engine/sync/sync-request.ts';
import type { TreeEntry } from '../../../operators/ignition-sync/src/engine/tree/tree-entry.ts';
import type { Settings } from '../sync-tree/random-settings.ts';

/** Kill is where a process ends itself, without warning. */
export type Kill =
  /** At the occurrence of a step, counted from 0. */
  | { readonly step: SyncStep; readonly occurrence: number }
  /** After this many bytes of all streams. */
  | { readonly byte: number };

/** ChildTask is what an agent process does. */
export interface ChildTask {
  readonly data: string;
  /** The folder with one file per blob. */
  readonly blobs: string;
  readonly listing: readonly TreeEntry[];
  readonly settings: Settings;
  readonly commit: string;
  /** Whether only the sync of a killed process is finished. */
  readonly recoverOnly: boolean;
  readonly kill: Kill | undefined;
}

/** ChildResult is what an agent process reports at its end. */
export interface ChildResult {
  /** Whether the gateway had loaded the state before this process did. */
  readonly isLoaded?: boolean;
  readonly changes?: number;
  readonly recovered?: string;
  /** Why the sync was refused. */
  readonly refused?: string;
}
