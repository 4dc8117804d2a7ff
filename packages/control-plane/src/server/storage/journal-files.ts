/** logName returns the name of the file with the changes since a generation began. */
export function logName(generation: number): string {
  return `log-${String(generation).padStart(8, '0')}`;
}

/** snapshotName returns the name of the file with the objects that existed when a generation began. */
export function snapshotName(generation: number): string {
  return `snapshot-${String(generation).padStart(8, '0')}`;
}

/** partName returns the name of the file of an incomplete snapshot. */
export function partName(generation: number): string {
  return `${snapshotName(generation)}.part`;
}

/** JournalFiles holds the generations of the files in a folder, sorted. */
export interface JournalFiles {
  readonly snapshots: readonly number[];
  readonly logs: readonly number[];
  readonly parts: readonly number[];
}

/** journalFiles finds the files of a journal among others. */
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
