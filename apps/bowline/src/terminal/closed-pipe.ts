import type { Writable } from 'node:stream';

/**
 * exitWhenClosed ends the process with 0 when the reader of its output has closed the pipe, as in `bowline … | head`:
 * it has what it needs. Without it, Node would report an unhandled error with a stack trace.
 */
export function exitWhenClosed(output: Writable): void {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}
