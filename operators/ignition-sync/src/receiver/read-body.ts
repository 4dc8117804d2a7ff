import type { IncomingMessage } from 'node:http';
import type { Clock } from '@bowline/machinery';
import { ReceiverProblem } from './receiver-problem.ts';

/** MAX_BODY_BYTES is the maximum size of a body. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** BODY_TIMEOUT_MS is the time in which a body must arrive. */
export const BODY_TIMEOUT_MS = 10_000;
/** MAX_BUFFERED_BYTES is the maximum size of all bodies that are held at the same time. */
export const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;
/** Each chunk has an overhead whatever its size, so they are joined after this many: a body may arrive byte by byte. */
const MAX_CHUNKS = 64;

/** ReceivedBody is a body that counts against the budget until it is disposed. */
export interface ReceivedBody extends Disposable {
  readonly bytes: Buffer;
}

/** BodyBudget bounds the memory of bodies. */
export class BodyBudget {
  #left: number;

  constructor(maxBytes: number = MAX_BUFFERED_BYTES) {
    this.#left = maxBytes;
  }

  /** take reserves memory, or throws a problem if there is not enough. */
  take(bytes: number): void {
    if (bytes > this.#left)
      throw new ReceiverProblem(503, 'too many requests at the same time', { 'retry-after': '1' });
    this.#left -= bytes;
  }

  release(bytes: number): void {
    this.#left += bytes;
  }
}

/** ReadBodyOptions configures how a body is read. */
export interface ReadBodyOptions {
  readonly clock: Clock;
  readonly budget: BodyBudget;
}

/** readBody reads the body of a request. It rejects with a ReceiverProblem if it is too large or too slow. */
export async function readBody(request: IncomingMessage, { clock, budget }: ReadBodyOptions): Promise<ReceivedBody> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let pieces = 0;
    const settle = (): void => {
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      timer.cancel();
    };
    const fail = (problem: unknown): void => {
      settle();
      budget.release(size);
      reject(problem);
    };
    const onData = (chunk: Buffer): void => {
      if (size + chunk.length > MAX_BODY_BYTES) {
        fail(tooLarge());
        return;
      }
      try {
        budget.take(chunk.length);
      } catch (problem) {
        fail(problem);
        return;
      }
      size += chunk.length;
      chunks.push(chunk);
      if (++pieces < MAX_CHUNKS) return;
      chunks.push(Buffer.concat(chunks.splice(-pieces)));
      pieces = 0;
    };
    const onEnd = (): void => {
      settle();
      resolve({ bytes: Buffer.concat(chunks, size), [Symbol.dispose]: () => budget.release(size) });
    };
    const onBroken = (): void => fail(new ReceiverProblem(400, 'the body ended early'));
    const timer = clock.setTimer(BODY_TIMEOUT_MS, () =>
      fail(new ReceiverProblem(408, `the body did not arrive within ${BODY_TIMEOUT_MS / 1_000} s`)),
    );
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

function tooLarge(): ReceiverProblem {
  return new ReceiverProblem(413, `the body is larger than ${MAX_BODY_BYTES} bytes`);
}
