import type { IncomingMessage } from 'node:http';
import type { Clock } from '@bowline/machinery';
import type { RequestScope } from '../transport/request-scope.ts';
import type { BodyShare } from './body-budget.ts';
import { HttpProblem } from './http-problem.ts';

/** ReadBodyOptions limits the size and duration of reading a body. */
export interface ReadBodyOptions {
  readonly maxBytes: number;
  /** The whole body must arrive within this time. */
  readonly timeoutMs: number;
  /** Cancels reading with the request. */
  readonly scope: RequestScope;
  readonly share: BodyShare;
  readonly wire: Clock;
}

/**
 * Each chunk has an overhead regardless of its size, so chunks are joined after this many: a body of single bytes must
 * not take a hundred times its size.
 */
const MAX_CHUNKS = 64;

/**
 * readBody reads a request's body as text. It rejects a body that is too large without keeping more of it than allowed.
 */
export function readBody(request: IncomingMessage, options: ReadBodyOptions): Promise<string> {
  const { maxBytes, timeoutMs, scope, share, wire } = options;
  const tooLarge = (): HttpProblem =>
    new HttpProblem(413, `the body is larger than ${maxBytes} bytes; raise maxBodyBytes if objects may be that large`);
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
      reject(tooLarge());
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    let pieces = 0;
    const done = (settle: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      forget();
      timer.cancel();
      settle();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) {
        done(() => reject(tooLarge()));
        return;
      }
      chunks.push(chunk);
      if (++pieces === MAX_CHUNKS) {
        chunks.push(Buffer.concat(chunks.splice(-pieces)));
        pieces = 0;
      }
      share.add(chunk.length);
    };
    const onEnd = (): void => {
      share.complete();
      done(() => resolve(Buffer.concat(chunks, size).toString('utf8')));
    };
    const onBroken = (): void => done(() => reject(new HttpProblem(400, 'the body ended early')));
    const forget = scope.onCancel((reason) => done(() => reject(reason)));
    const timer = wire.setTimer(timeoutMs, () =>
      done(() => reject(new HttpProblem(408, `the body did not arrive within ${timeoutMs} ms`))),
    );
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}
