import type { Memory } from '../../support/process-usage.ts';
import { startSubject } from '../../support/run-subject.ts';
import { bowline, type HsmScene } from './scene.ts';

const timeoutMs = 120_000;

/** RunningHsm is the operator in a separate process. */
export interface RunningHsm extends AsyncDisposable {
  /** When its process was started, as `performance.now()`. */
  readonly startedAt: number;
  /** settled waits until no work is left. */
  settled(): Promise<void>;
  memory(): Memory;
  cpuMs(): number;
}

/** runHsm starts the operator and waits until it works: its caches are synced, and it holds the Lease. */
export async function runHsm(scene: HsmScene): Promise<RunningHsm> {
  const startedAt = performance.now();
  const running = await startSubject(bowline(scene));
  return {
    startedAt,
    async settled() {
      running.send('settle');
      await running.next(timeoutMs);
    },
    memory: () => running.memory(),
    cpuMs: () => running.cpuMs(),
    [Symbol.asyncDispose]: () => running.release(),
  };
}
