import type { Memory } from '../../support/process-usage.ts';
import { numberIn, type Report, startSubject } from '../../support/run-subject.ts';
import { bowline, type JasmScene } from './scene.ts';

const timeoutMs = 120_000;

/** Settled is an operator's report once no work is left. */
export interface Settled {
  /** Since it was told to run. */
  readonly ms: number;
  /** Events that it could not send, or dropped because there were too many. */
  readonly droppedEvents: number;
}

/** RunningJasm is the operator in a separate process. */
export interface RunningJasm extends AsyncDisposable {
  /** When it was told to run, as `performance.now()`. */
  readonly startedAt: number;
  /** settled waits until the given numbers of Secrets and events are done and no work is left. */
  settled(syncs: number, events: number): Promise<Settled>;
  memory(): Memory;
  cpuMs(): number;
}

/** runJasm starts the process, waits until everything is loaded and its configuration is read, and tells it to run. */
export async function runJasm(scene: JasmScene): Promise<RunningJasm> {
  const running = await startSubject(bowline(scene));
  const startedAt = performance.now();
  running.send('run');
  return {
    startedAt,
    async settled(syncs, events) {
      running.send(`settle ${syncs} ${events}`);
      const report: Report = await running.next(timeoutMs);
      return { ms: numberIn(report, 'ms'), droppedEvents: numberIn(report, 'dropped') };
    },
    memory: () => running.memory(),
    cpuMs: () => running.cpuMs(),
    [Symbol.asyncDispose]: () => running.release(),
  };
}
