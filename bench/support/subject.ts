import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { preferSmallHeap } from '../../packages/runtime/src/operations/small-heap.ts';
import type { Connection } from './connection.ts';

/** SubjectInput is a subject's only argument, as JSON. */
export interface SubjectInput {
  /** A file with a `Connection`. */
  readonly connectionFile: string;
  readonly kubeconfig: string;
  /** What the subject's own kind of measurement needs. */
  readonly options: Readonly<Record<string, number | string>>;
}

/** smallHeapArgument, after the input, asks a subject to keep V8's heap small from its start. */
export const smallHeapArgument = 'small-heap';

/**
 * subjectInput reads what the harness asks of this process. The heap is bounded here for every subject alike. Of the
 * runtime nothing else is imported: it would weigh on the bare loop.
 */
export function subjectInput(): SubjectInput {
  const [, , input = '', heap] = process.argv;
  if (heap === smallHeapArgument) preferSmallHeap();
  return JSON.parse(input) as SubjectInput;
}

/** readConnection reads the address and credentials of the API server. */
export function readConnection(input: SubjectInput): Connection {
  return JSON.parse(readFileSync(input.connectionFile, 'utf8')) as Connection;
}

/** report answers the harness with one line. */
export function report(values: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(values)}\n`);
}

/**
 * untilReleased waits until the harness closes standard input. It also closes when the harness is killed, so no subject
 * outlives it.
 */
export function untilReleased(): Promise<void> {
  return new Promise((resolve) => {
    process.stdin.on('end', resolve);
    process.stdin.resume();
  });
}

/** orders are the lines that the harness tells this process, until it is released. Instead of `untilReleased`. */
export function orders(): AsyncIterable<string> {
  return createInterface({ input: process.stdin });
}
