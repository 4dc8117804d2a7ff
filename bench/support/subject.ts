import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { preferSmallHeap } from '../../packages/runtime/src/operations/small-heap.ts';
import type { Connection } from './connection.ts';

/** SubjectInput is a subject's only argument, as JSON. */
export interface SubjectInput {
  /** A file with a `Connection`. */
  readonly connectionFile: string;
  readonly kubeconfig: string;
  /** The options of the subject's measurement. */
  readonly options: Readonly<Record<string, number | string>>;
}

/** smallHeapArgument, after the input, tells a subject to keep V8's heap small from its start. */
export const smallHeapArgument = 'small-heap';

/**
 * subjectInput parses the input of this process. The heap is bounded here for every subject alike. Nothing else of the runtime is
 * imported, because it would add to the bare loop.
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

/** report sends one line to the harness. */
export function report(values: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(values)}\n`);
}

/**
 * untilReleased waits until the harness closes standard input. It also closes when the harness is killed, so that no subject
 * outlives it.
 */
export function untilReleased(): Promise<void> {
  return new Promise((resolve) => {
    process.stdin.on('end', resolve);
    process.stdin.resume();
  });
}

/** orders yields the lines that the harness sends to this process, until it is released. Use it instead of `untilReleased`. */
export function orders(): AsyncIterable<string> {
  return createInterface({ input: process.stdin });
}

/** timed does work and returns how long it took, and the processor time of this process meanwhile. */
export async function timed(work: () => Promise<void>): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const start = performance.now();
  const cpu = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - start, cpuMs: (user + system) / 1_000 };
}
