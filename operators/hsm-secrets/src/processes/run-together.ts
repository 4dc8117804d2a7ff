/**
 * runTogether runs several parts until the signal is aborted, and settles when all of them have stopped. If a part
 * fails, the others are stopped too, and it rejects with the error of that part.
 */
export async function runTogether(
  signal: AbortSignal,
  parts: readonly ((signal: AbortSignal) => Promise<unknown>)[],
): Promise<void> {
  const end = new AbortController();
  const onAbort = (): void => end.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const running = parts.map(async (part) => {
    try {
      await part(end.signal);
    } catch (error) {
      end.abort(error);
      throw error;
    }
  });
  try {
    const results = await Promise.allSettled(running);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
