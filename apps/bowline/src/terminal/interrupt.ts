import { BowlineError } from '@bowline/runtime';

/** Interruption reports that the user asked the program to end. */
export interface Interruption extends Disposable {
  readonly signal: AbortSignal;
  /** Resolves at the first SIGINT, SIGTERM or SIGHUP. A second one ends the process at once. */
  readonly interrupted: Promise<void>;
}

/** listenForInterrupt starts to listen for signals. */
export function listenForInterrupt(): Interruption {
  const abort = new AbortController();
  const removeListeners: (() => void)[] = [];
  const interrupted = new Promise<void>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      const stop = (): void => {
        abort.abort(interruptedBy(name));
        resolve();
      };
      process.once(name, stop);
      removeListeners.push(() => process.off(name, stop));
    }
  });
  return {
    signal: abort.signal,
    interrupted,
    [Symbol.dispose]: () => {
      for (const each of removeListeners) each();
    },
  };
}

/** interruptedBy returns the error of a command that a signal ended before it was complete. */
export function interruptedBy(signal: NodeJS.Signals): BowlineError {
  return new BowlineError('BOWLINE_INTERRUPTED', `stopped by ${signal}; run the command again to continue`);
}
