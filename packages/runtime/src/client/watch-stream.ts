import { apiVersionOf, type KubernetesObject, type Resource } from '@bowline/kubernetes';
import { ApiError, type ApiRequest } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { TransportResponse } from '../transport/transport.ts';
import { isStatus } from './caller.ts';
import type { UnexpectedWatchEvent, WatchEvent, WatchStream } from './client.ts';
import { LineSplitter } from './line-splitter.ts';

/** WatchStreamOptions describes the expected lines of a watch. */
export interface WatchStreamOptions {
  readonly response: TransportResponse;
  readonly resource: Resource;
  readonly request: ApiRequest;
  readonly metadataOnly: boolean;
  readonly onUnexpected: (event: UnexpectedWatchEvent) => void;
}

/** watchStream reads a watch's body chunk by chunk, never ahead of its reader. */
export function watchStream<T extends KubernetesObject>(options: WatchStreamOptions): WatchStream<T> {
  return {
    batches: () => readBatches<T>(options),
    async *[Symbol.asyncIterator]() {
      for await (const batch of readBatches<T>(options)) yield* batch;
    },
    aliveAt: () => options.response.aliveAt(),
  };
}

async function* readBatches<T extends KubernetesObject>(
  options: WatchStreamOptions,
): AsyncGenerator<readonly WatchEvent<T>[]> {
  const splitter = new LineSplitter();
  const decoder = new EventDecoder<T>(options);
  for await (const chunk of options.response.body) {
    let failure: unknown;
    try {
      splitter.push(chunk, decoder.line);
    } catch (error) {
      failure = error;
    }
    const batch = decoder.take();
    if (batch.length > 0) yield batch;
    if (failure !== undefined) throw decoder.failed(failure);
  }
  const rest = splitter.rest();
  if (rest === '') return;
  // A truncated line is not JSON; a last line that merely lacks its newline is.
  try {
    decoder.line(rest);
  } catch (error) {
    throw decoder.failed(error);
  }
  yield decoder.take();
}

/** EventDecoder turns lines into events of the expected kind. */
class EventDecoder<T extends KubernetesObject> {
  readonly #options: WatchStreamOptions;
  readonly #apiVersion: string;
  readonly #kind: string;
  #batch: WatchEvent<T>[] = [];

  constructor(options: WatchStreamOptions) {
    this.#options = options;
    this.#apiVersion = apiVersionOf(options.resource);
    this.#kind = options.resource.kind;
  }

  /** take returns the events since the last call. */
  take(): readonly WatchEvent<T>[] {
    const batch = this.#batch;
    this.#batch = [];
    return batch;
  }

  /** failed returns the error that ends the stream. */
  failed(cause: unknown): unknown {
    if (cause instanceof BowlineError) return cause;
    const reason = cause instanceof RangeError ? cause.message : 'a line is not a watch event (truncated or corrupt)';
    return new BowlineError(
      'BOWLINE_WATCH_DECODE',
      `cannot read the watch of ${this.#kind} (${this.#apiVersion}): ${reason}; restart the watch from the last resourceVersion`,
      // No cause: the parser's message quotes the text it failed on, which may come from a Secret.
      { retryable: true },
    );
  }

  /** line decodes one line. */
  readonly line = (text: string): void => {
    const event: unknown = JSON.parse(text);
    if (typeof event !== 'object' || event === null || !('type' in event) || !('object' in event)) {
      throw new SyntaxError('not an event');
    }
    const { type, object } = event;
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
      case 'BOOKMARK':
        if (this.#isExpected(object)) this.#batch.push(event as WatchEvent<T>);
        else this.#unexpected(type, object, 'kind');
        return;
      case 'ERROR':
        throw new ApiError({
          request: this.#options.request,
          status: isStatus(object) ? (object.code ?? 500) : 500,
          body: isStatus(object) ? object : undefined,
          retryAfterMs: retryAfterOf(object),
        });
      default:
        this.#unexpected(String(type), object, 'type');
    }
  };

  /** #isExpected checks the kind. A metadata-only object is given the apiVersion and kind of the watched kind. */
  #isExpected(object: unknown): boolean {
    if (typeof object !== 'object' || object === null) return false;
    const named = object as { apiVersion?: unknown; kind?: unknown };
    if (named.kind === this.#kind && named.apiVersion === this.#apiVersion) return true;
    if (!this.#options.metadataOnly || named.kind !== 'PartialObjectMetadata') return false;
    named.kind = this.#kind;
    named.apiVersion = this.#apiVersion;
    return true;
  }

  #unexpected(type: string, object: unknown, problem: 'type' | 'kind'): void {
    const named = (typeof object === 'object' && object !== null ? object : {}) as {
      apiVersion?: unknown;
      kind?: unknown;
    };
    this.#options.onUnexpected({
      problem,
      type,
      apiVersion: typeof named.apiVersion === 'string' ? named.apiVersion : '',
      kind: typeof named.kind === 'string' ? named.kind : '',
    });
  }
}

function retryAfterOf(object: unknown): number | undefined {
  const seconds = isStatus(object) ? object.details?.retryAfterSeconds : undefined;
  return seconds === undefined ? undefined : seconds * 1000;
}
