import { type KubernetesObject, keyString, type ObjectKey, type Resource } from '@bowline/kubernetes';
import type { Timer } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Call, Caller } from './caller.ts';
import type { ReadTextOptions, StreamTextOptions, TextRequest, TextStream } from './client.ts';
import { LineSplitter } from './line-splitter.ts';
import { objectPath, withQuery } from './paths.ts';

/** A container runtime splits lines at 16 KiB; anything much longer is not a line of a log. */
const MAX_LINE_BYTES = 2 ** 20;
const MAX_TEXT_BYTES = 2 ** 20;

/** readText reads the text of a subresource, up to a limit. */
export function readText<T extends KubernetesObject>(
  caller: Caller,
  resource: Resource<T>,
  key: ObjectKey,
  options: ReadTextOptions,
): Promise<string> {
  const { maxBytes = MAX_TEXT_BYTES } = options;
  return caller.text({
    ...textCall(resource, key, options),
    timeoutMs: options.timeoutMs,
    readBody: async (response) => {
      const parts: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of response.body) {
        size += chunk.length;
        if (size > maxBytes) throw tooLarge(resource, key, options, `more than ${maxBytes} bytes`, 'a larger maxBytes');
        parts.push(chunk);
      }
      return Buffer.concat(parts, size).toString('utf8');
    },
  });
}

/** streamText opens the text of a subresource as a stream. */
export async function streamText<T extends KubernetesObject>(
  caller: Caller,
  resource: Resource<T>,
  key: ObjectKey,
  options: StreamTextOptions,
): Promise<TextStream> {
  const { signal, idleTimeoutMs, timeoutMs, maxLineBytes = MAX_LINE_BYTES } = options;
  const idle = new AbortController();
  const response = await caller.stream({
    ...textCall(resource, key, options),
    timeoutMs,
    signal: signal ? AbortSignal.any([signal, idle.signal]) : idle.signal,
  });
  const bytes = (): AsyncIterable<Uint8Array> =>
    idleTimeoutMs === undefined
      ? response.body
      : withIdleTimeout(response.body, () =>
          caller.wire.setTimer(idleTimeoutMs, () => idle.abort(idleError(resource, key, options, idleTimeoutMs))),
        );
  return {
    chunks: () => decoded(bytes()),
    [Symbol.asyncIterator]: () =>
      linesOf(bytes(), maxLineBytes, () =>
        tooLarge(resource, key, options, `a line of more than ${maxLineBytes} bytes`, 'its chunks()'),
      ),
    aliveAt: () => response.aliveAt(),
  };
}

function textCall(resource: Resource, key: ObjectKey, request: TextRequest): Call {
  const { subresource, query = {}, signal } = request;
  const path = withQuery(objectPath(resource, key, subresource), query);
  return {
    apiRequest: { verb: 'get', resource, subresource, key, path },
    method: 'GET',
    write: false,
    accept: '*/*',
    signal,
  };
}

async function* decoded(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    if (text !== '') yield text;
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}

async function* linesOf(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  tooLong: () => BowlineError,
): AsyncGenerator<string> {
  const splitter = new LineSplitter(maxBytes, { keepEmpty: true });
  for await (const chunk of body) {
    const lines: string[] = [];
    let isTooLong = false;
    try {
      splitter.push(chunk, (line) => lines.push(line));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      isTooLong = true;
    }
    yield* lines;
    if (isTooLong) throw tooLong();
  }
  // The last line of a truncated log, or of a container that ended without a newline.
  const rest = splitter.rest();
  if (rest !== '') yield rest;
}

/** withIdleTimeout counts only the time during which the reader waits: a slow reader is not a silent server. */
async function* withIdleTimeout(body: AsyncIterable<Uint8Array>, startTimer: () => Timer): AsyncGenerator<Uint8Array> {
  let timer = startTimer();
  try {
    for await (const chunk of body) {
      timer.cancel();
      yield chunk;
      timer = startTimer();
    }
  } finally {
    timer.cancel();
  }
}

function nameOf(resource: Resource, key: ObjectKey, { subresource }: TextRequest): string {
  return `${resource.plural}/${subresource} of ${keyString(key)}`;
}

function tooLarge(
  resource: Resource,
  key: ObjectKey,
  request: TextRequest,
  what: string,
  instead: string,
): BowlineError {
  return new BowlineError(
    'BOWLINE_TEXT_TOO_LARGE',
    `${nameOf(resource, key, request)} has ${what}: request less of it (a log with tailLines or limitBytes), or use ${instead}`,
  );
}

function idleError(resource: Resource, key: ObjectKey, request: TextRequest, afterMs: number): BowlineError {
  return new BowlineError(
    'BOWLINE_TEXT_IDLE',
    `${nameOf(resource, key, request)} sent nothing for ${afterMs} ms: open it again, or set a longer idleTimeoutMs`,
    { retryable: true },
  );
}
