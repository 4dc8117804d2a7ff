/**
 * unlessAborted settles like a promise, or rejects with an error as soon as the signal is aborted. The work behind the
 * promise continues.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined, error: () => Error): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(error());
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
