/** TreeEntry is one file of a commit: a blob, a symbolic link or a submodule. */
export interface TreeEntry {
  /** Relative to the root of the repository, with `/`. Bytes that are not UTF-8 are replaced: see `isValidText`. */
  readonly path: string;
  /** Whether the path is valid UTF-8. */
  readonly isValidText: boolean;
  /** Octal: 100644, 100755, 120000 (symbolic link) or 160000 (submodule). */
  readonly mode: string;
  /** The hash of the blob, or of a submodule's commit. */
  readonly hash: string;
}

/** TreeChange is a path that differs between two commits. */
export interface TreeChange {
  readonly path: string;
  readonly isValidText: boolean;
  /** Undefined: the path is new. */
  readonly before: Pick<TreeEntry, 'mode' | 'hash'> | undefined;
  /** Undefined: the path was deleted. */
  readonly after: Pick<TreeEntry, 'mode' | 'hash'> | undefined;
}

/** parseTreeEntry parses a record of `ls-tree -r -z`. */
export function parseTreeEntry(record: Buffer): TreeEntry | undefined {
  const tab = record.indexOf(9);
  const [, mode = '', hash = ''] =
    /^(\d{6}) \w+ ([0-9a-f]{40})$/.exec(record.subarray(0, tab).toString('latin1')) ?? [];
  return mode === '' ? undefined : { ...parsePath(record.subarray(tab + 1)), mode, hash };
}

/** parseChange parses the two records of a change in the output of `diff-tree -r -z --raw`. */
export function parseChange(status: Buffer, path: Buffer): TreeChange | undefined {
  const pattern = /^:(\d{6}) (\d{6}) ([0-9a-f]{40}) ([0-9a-f]{40}) [A-Z]/;
  const [, oldMode = '', newMode = '', oldHash = '', newHash = ''] = pattern.exec(status.toString('latin1')) ?? [];
  if (oldMode === '') return undefined;
  return { ...parsePath(path), before: side(oldMode, oldHash), after: side(newMode, newHash) };
}

function side(mode: string, hash: string): TreeChange['before'] {
  return mode === '000000' ? undefined : { mode, hash };
}

function parsePath(bytes: Buffer): { readonly path: string; readonly isValidText: boolean } {
  const path = bytes.toString('utf8');
  return { path, isValidText: Buffer.from(path, 'utf8').equals(bytes) };
}
