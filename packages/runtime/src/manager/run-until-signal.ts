import { BowlineError } from '../errors/bowline-error.ts';
import { preferSmallHeap } from '../operations/small-heap.ts';

/** RunUntilSignalOptions says which signals end a run, and how the process is set up for it. */
export interface RunUntilSignalOptions {
  /** Let V8 spend memory like an operator; see `preferSmallHeap`. Defaults to true. */
  readonly smallHeap?: boolean | undefined;
  /** Defaults to SIGTERM and SIGINT. */
  readonly signals?: readonly NodeJS.Signals[] | undefined;
}

/**
 * runUntilSignal runs something until the process is told to stop; a second signal of the same kind ends the process at
 * once, as it would without this. For the outermost code of a program: libraries take an AbortSignal.
 *
 * @example
 * await runUntilSignal((signal) => manager.run(signal));
 */
export async function runUntilSignal<T>(
  run: (signal: AbortSignal) => Promise<T>,
  options: RunUntilSignalOptions = {},
): Promise<T> {
  if (options.smallHeap ?? true) preferSmallHeap();
  const signals = options.signals ?? ['SIGTERM', 'SIGINT'];
  const controller = new AbortController();
  const forget = (): void => {
    for (const name of signals) process.off(name, stop);
  };
  const stop = (name: NodeJS.Signals): void => {
    forget();
    controller.abort(new BowlineError('BOWLINE_STOPPED', `the process was told to stop by ${name}`));
  };
  for (const name of signals) process.on(name, stop);
  try {
    return await run(controller.signal);
  } finally {
    forget();
  }
}
