import { openSync, readFileSync, writeSync } from 'node:fs';

/**
 * JournalEntry is one line of a replica's own record. Times are the machine's monotonic clock in milliseconds, the same for every
 * process on it.
 */
export type JournalEntry =
  /** The guard allowed a write. `at` was read before the guard was called. */
  | {
      readonly kind: 'sent';
      readonly id: number;
      readonly what: 'lease' | 'write';
      readonly name: string;
      readonly at: number;
    }
  /** The response to it. */
  | { readonly kind: 'answered'; readonly id: number; readonly status: number; readonly at: number }
  /** The guard refused a write. */
  | { readonly kind: 'refused'; readonly at: number };

/** machineTime is CLOCK_MONOTONIC in milliseconds: comparable between processes, running while one is stopped. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** openJournal appends lines with one system call each, so that a kill loses none that was written. */
export function openJournal(path: string): (entry: JournalEntry) => void {
  const file = openSync(path, 'a');
  return (entry) => void writeSync(file, `${JSON.stringify(entry)}\n`);
}

/** readJournal reads what a replica has written so far, without a line truncated by a kill. */
export function readJournal(path: string): readonly JournalEntry[] {
  const text = readFileSync(path, 'utf8');
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JournalEntry);
}
