import type { TreeLimits } from '../tree/check-limits.ts';
import type { DesiredTree } from '../tree/tree-entry.ts';
import type { BlobSource, LfsSource } from './blob-source.ts';

/** Prune selects what a sync deletes: managed files, also unmanaged files below the roots, or nothing. */
export type Prune = 'Managed' | 'All' | 'None';

/** SyncRequest describes the state that a sync brings about. */
export interface SyncRequest {
  readonly commit: string;
  readonly ref: string;
  /** A hash of everything else that decides about the files. */
  readonly settingsHash: string;
  readonly tree: DesiredTree;
  readonly blobs: BlobSource;
  /** Defaults to none: pointer files are refused. */
  readonly lfs?: LfsSource | undefined;
  /** Defaults to Managed. */
  readonly prune?: Prune | undefined;
  /** Paths that are left as they are, for instance until a conflict is resolved. Defaults to none. */
  readonly held?: ReadonlySet<string> | undefined;
  readonly limits?: TreeLimits | undefined;
  /** Aborts the sync until its journal is complete. */
  readonly signal?: AbortSignal | undefined;
}

/** Change is one file that a sync changes. */
export interface Change {
  readonly path: string;
  readonly action: 'add' | 'modify' | 'delete';
}

/** SyncStep is a step of a sync, in the order in which they happen. */
export type SyncStep =
  | 'lock'
  | 'recover'
  | 'compare'
  | 'before-stage'
  | 'stage'
  | 'journal'
  | 'before-apply'
  | 'backup'
  | 'place'
  | 'delete'
  | 'manifest'
  | 'finish'
  | 'loaded';
