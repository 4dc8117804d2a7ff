import type { IncomingMessage } from 'node:http';
import { HttpProblem } from './http-problem.ts';

/** readBody reads a request's body as text, and refuses one larger than `mostBytes` without keeping more of it than that. */
export function readBody(request: IncomingMessage, mostBytes: number, signal: AbortSignal): Promise<string> {
  const tooLarge = (): HttpProblem =>
    new HttpProblem(413, `the body is larger than ${mostBytes} bytes; raise maxBodyBytes if objects may be that large`);
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > mostBytes) {
      reject(tooLarge());
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    const done = (settle: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > mostBytes) done(() => reject(tooLarge()));
      else chunks.push(chunk);
    };
    const onEnd = (): void => done(() => resolve(Buffer.concat(chunks, size).toString('utf8')));
    const onBroken = (): void => done(() => reject(new HttpProblem(400, 'the body ended early')));
    const onAbort = (): void => done(() => reject(signal.reason));
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
