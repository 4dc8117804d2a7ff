import { setTimeout as pause } from 'node:timers/promises';
import type { Memory } from './process-usage.ts';
import type { Scene } from './scene.ts';
import type { SubjectInput } from './subject.ts';
import { type Command, SubjectProcess } from './subject-process.ts';

/** Subject is a program to be measured. */
export interface Subject {
  readonly id: string;
  readonly label: string;
  readonly command: Command;
  readonly args: readonly string[];
}

/** Outcome is the result of one run of a subject. */
export interface Outcome {
  readonly report: Report;
  /** From the start of the process to its report, including the start of Node or Go and all imports. */
  readonly sinceStartMs: number;
  readonly memory: Memory;
}

/** Report is one line written by a subject. */
export type Report = Readonly<Record<string, unknown>>;

const reportTimeoutMs = 120_000;

/** subjectArguments returns the command line of a subject that takes a `SubjectInput`. */
export function subjectArguments(scene: Scene, options: SubjectInput['options'] = {}): readonly string[] {
  const input: SubjectInput = { connectionFile: scene.connectionFile, kubeconfig: scene.kubeconfig, options };
  return [JSON.stringify(input)];
}

/** startSubject starts a program and waits for its first line, which reports that it is ready. */
export async function startSubject({ command, args }: Pick<Subject, 'command' | 'args'>): Promise<SubjectProcess> {
  const running = new SubjectProcess(command, args);
  try {
    await running.next(reportTimeoutMs);
    return running;
  } catch (error) {
    await running.release();
    throw error;
  }
}

/** runSubject runs a subject in a new process until it reports, lets it rest, reads its memory and stops it. */
export async function runSubject(subject: Subject, restMs: number): Promise<Outcome> {
  const start = performance.now();
  await using running = new SubjectProcess(subject.command, subject.args);
  const report = await running.next(reportTimeoutMs);
  const sinceStartMs = performance.now() - start;
  await pause(restMs);
  return { report, sinceStartMs, memory: running.memory() };
}

/** numberIn reads a number of a subject's report. */
export function numberIn(report: Report, field: string): number {
  const value = report[field];
  if (typeof value !== 'number')
    throw new TypeError(`the subject reported ${JSON.stringify(report)}, without ${field}`);
  return value;
}
