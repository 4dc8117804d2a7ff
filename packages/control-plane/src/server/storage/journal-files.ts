/** logName is the file of the changes since a generation began. */
export function logName(generation: number): string {
  return `log-${String(generation).padStart(8, '0')}`;
}

/** snapshotName is the file of what was alive when a generation began. */
export function snapshotName(generation: number): string {
  return `snapshot-${String(generation).padStart(8, '0')}`;
}

/** partName is the file of a snapshot that is not complete. */
export function partName(generation: number): string {
  return `${snapshotName(generation)}.part`;
}

/** JournalFiles are the generations that a folder has files of, in order. */
export interface JournalFiles {
  readonly snapshots: readonly number[];
  readonly logs: readonly number[];
  readonly parts: readonly number[];
}

/** journalFiles finds a journal's files among others. */
export function journalFiles(names: readonly string[]): JournalFiles {
  const generations = (pattern: RegExp): number[] =>
    names
      .flatMap((name) => pattern.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  return {
    snapshots: generations(/^snapshot-(\d{8,})$/),
    logs: generations(/^log-(\d{8,})$/),
    parts: generations(/^snapshot-(\d{8,})\.part$/),
  };
}
