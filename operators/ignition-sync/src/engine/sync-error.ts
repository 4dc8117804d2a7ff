import { BowlineError } from '@bowline/machinery';

/** SyncReason is the class of a refused or failed sync. It is part of the status of a gateway. */
export type SyncReason =
  /** The folder of the gateway does not exist in the commit. */
  | 'ServicePathNotFound'
  /** The source of a required mapping does not exist in the commit. */
  | 'SourceNotFound'
  | 'SymlinkInRepository'
  | 'SubmoduleInRepository'
  | 'LfsPointer'
  /** A path leaves the data folder, is too long, or has characters that a gateway refuses. */
  | 'UnsafePath'
  /** Two paths are the same file on this file system, or a file is where another path needs a folder. */
  | 'PathCollision'
  | 'TooManyFiles'
  | 'FileTooLarge'
  | 'TooLarge'
  | 'DiskFull'
  | 'ConfigSyntaxError'
  | 'TemplateFailed'
  /** Content from Git does not have the hash that it was requested by. */
  | 'SourceDamaged'
  /** A live target is not a regular file, or a folder on its path is a link or a file. */
  | 'UnsafeTarget'
  /** Staged content contains a path of the gateway or of the agent: a defect of the engine. */
  | 'StagingDirectoryContainsRuntimeFiles'
  /** Another agent uses the data folder. */
  | 'DataFolderBusy'
  /** A file could not be written. If the journal is complete, the sync is finished before the next one starts. */
  | 'ApplyFailed';

/** Reasons that may disappear without a change of the commit or of the settings. */
const RETRYABLE: ReadonlySet<SyncReason> = new Set(['DiskFull', 'SourceDamaged', 'DataFolderBusy', 'ApplyFailed']);

/** A message must fit into a condition. */
const MAX_PATH_IN_MESSAGE = 200;

/** SyncErrorOptions holds the parts of a message. */
export interface SyncErrorOptions {
  /** The path that the sync was refused for, relative to the repository or the data folder. */
  readonly path: string;
  /** What is wrong with it. */
  readonly problem: string;
  /** What its user can do. */
  readonly remedy: string;
  readonly cause?: unknown;
}

/** SyncError reports why a sync was refused or failed. Except for `ApplyFailed`, no live file has changed. */
export class SyncError extends BowlineError {
  readonly reason: SyncReason;
  readonly path: string;
  readonly remedy: string;

  constructor(reason: SyncReason, { path, problem, remedy, cause }: SyncErrorOptions) {
    super(codeOf(reason), `${shorten(path)}: ${problem}; ${remedy}`, { cause, retryable: RETRYABLE.has(reason) });
    this.reason = reason;
    this.path = path;
    this.remedy = remedy;
  }
}

function codeOf(reason: SyncReason): `BOWLINE_${string}` {
  if (reason === 'ApplyFailed') return 'BOWLINE_SYNC_APPLY_FAILED';
  return reason === 'DataFolderBusy' ? 'BOWLINE_SYNC_DATA_FOLDER_BUSY' : 'BOWLINE_SYNC_REFUSED';
}

/** Control characters of a hostile path must not reach a log line. */
function shorten(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are replaced.
  const printable = path.replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd');
  return printable.length > MAX_PATH_IN_MESSAGE ? `…${printable.slice(-MAX_PATH_IN_MESSAGE)}` : printable;
}
