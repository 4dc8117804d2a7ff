import { BowlineError } from '../errors/bowline-error.ts';
import { preferSmallHeap } from '../operations/small-heap.ts';

/** RunUntilSignalOptions configures which signals stop a run, and the process setup. */
export interface RunUntilSignalOptions {
  /** Tunes V8 for the memory profile of an operator; see `preferSmallHeap`. Defaults to true. */
  readonly smallHeap?: boolean | undefined;
  /** Defaults to SIGTERM and SIGINT. */
  readonly signals?: readonly NodeJS.Signals[] | undefined;
}

/**
 * runUntilSignal runs a function until the process gets a stop signal. A second signal of the same kind ends the
 * process immediately, as it would without this function. It is meant for the outermost code of a program; libraries
 * take an AbortSignal.
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
    controller.abort(new BowlineError('BOWLINE_STOPPED', `the process was stopped by ${name}`));
  };
  for (const name of signals) process.on(name, stop);
  try {
    return await run(controller.signal);
  } finally {
    forget();
  }
}
