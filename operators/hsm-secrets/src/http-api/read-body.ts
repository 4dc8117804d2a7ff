import type { IncomingMessage } from 'node:http';
import { type Clock, isObject, type JsonObject, JsonSyntaxError, parseJson } from '@bowline/machinery';
import { ApiProblem, invalid } from './api-problem.ts';

/** MAX_BODY_BYTES is the maximum size of a body: the values of a secret (1 MiB), in base64, with metadata. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;
/** BODY_TIMEOUT_MS is the time in which a body must arrive. */
export const BODY_TIMEOUT_MS = 30_000;
/** Enough for every request; a deeper body is not for this API. */
const MAX_DEPTH = 8;
/** Each chunk has an overhead whatever its size, so they are joined after this many: a body may arrive byte by byte. */
const MAX_CHUNKS = 64;

/** readBody reads the body of a request as a JSON object. An empty body is an empty object. */
export async function readBody(
  request: IncomingMessage,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<JsonObject> {
  const bytes = await readBytes(request, clock, signal);
  try {
    return parseBody(bytes);
  } finally {
    // It may contain values or a PIN.
    bytes.fill(0);
  }
}

function parseBody(bytes: Buffer): JsonObject {
  if (bytes.length === 0) return {};
  const { value, duplicates } = parse(bytes);
  if (duplicates.length > 0) throw invalid('the body has a member more than once');
  if (!isObject(value)) throw invalid('the body must be a JSON object');
  return value;
}

/** parse reports only the position of an error: the text at it may be part of a value. */
function parse(bytes: Buffer): ReturnType<typeof parseJson> {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes), { maxDepth: MAX_DEPTH });
  } catch (error) {
    const where = error instanceof JsonSyntaxError ? ` (at character ${error.position + 1})` : '';
    throw invalid(`the body is not valid JSON${where}`);
  }
}

function readBytes(request: IncomingMessage, clock: Clock, signal: AbortSignal): Promise<Buffer> {
  const tooLarge = (): ApiProblem =>
    new ApiProblem(413, 'too_large', `the body is larger than ${MAX_BODY_BYTES} bytes; send less`);
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let pieces = 0;
    const settle = (end: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      signal.removeEventListener('abort', onAbort);
      timer.cancel();
      end();
      for (const chunk of chunks) chunk.fill(0);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > MAX_BODY_BYTES) settle(() => reject(tooLarge()));
      else if (++pieces === MAX_CHUNKS) {
        const parts = chunks.splice(-pieces);
        chunks.push(Buffer.concat(parts));
        for (const part of parts) part.fill(0);
        pieces = 0;
      }
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, size)));
    const onBroken = (): void => settle(() => reject(invalid('the body ended early')));
    const onAbort = (): void => settle(() => reject(signal.reason as Error));
    const timer = clock.setTimer(BODY_TIMEOUT_MS, () => {
      const message = `the body did not arrive within ${BODY_TIMEOUT_MS / 1000} s; send it again`;
      settle(() => reject(new ApiProblem(408, 'validation_failed', message)));
    });
    signal.addEventListener('abort', onAbort, { once: true });
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
    if (signal.aborted) onAbort();
  });
}
