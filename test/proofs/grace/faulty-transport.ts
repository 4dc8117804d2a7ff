import { setMaxListeners } from 'node:events';
import type { Clock } from '@bowline/machinery';
import {
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from '@bowline/runtime/transport';

/** How watches end: the connection is lost, or the API server no longer has the history. */
export type WatchEnd = 'lost' | 'expired';

/** FaultyTransport is the connection of one manager to the API server, which can be cut. */
export class FaultyTransport implements Transport {
  readonly host = 'in-process';
  readonly #server: Transport;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #isDown = false;
  #cut = newCut();
  #end: WatchEnd = 'lost';
  #inFlight = 0;
  #openWatches = 0;

  constructor(server: Transport, clock: Pick<Clock, 'monotonic'>) {
    this.#server = server;
    this.#clock = clock;
  }

  /** inFlight is the number of requests without a complete response, except watches. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** openWatches is the number of watches in progress from which pools are derived. */
  get openWatches(): number {
    return this.#openWatches;
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  /** goDown makes every request fail, as when the API server cannot be reached. */
  goDown(): void {
    this.#isDown = true;
    this.cutWatches('lost');
  }

  /** comeUp lets requests pass again. */
  comeUp(): void {
    this.#isDown = false;
  }

  /** cutWatches ends all watches in progress. */
  cutWatches(end: WatchEnd): void {
    this.#end = end;
    const cut = this.#cut;
    this.#cut = newCut();
    cut.abort();
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    if (this.#isDown) throw connectionLost();
    this.#inFlight += 1;
    try {
      if (request.lane === 'watch') return await this.#watched(request, this.#cut.signal);
      const response = await this.#server.request(request);
      const text = await response.text();
      if (this.#isDown) throw connectionLost();
      return { ...response, body: chunksOf(Buffer.from(text)), text: () => Promise.resolve(text) };
    } finally {
      this.#inFlight -= 1;
    }
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #watched(request: TransportRequest, cut: AbortSignal): Promise<TransportResponse> {
    const response = await this.#server.request(request);
    // A connection in this process is alive until it is cut.
    const aliveAt = (): number => this.#clock.monotonic();
    return { ...response, aliveAt, body: this.#untilCut(response.body, cut, OF_POOLS.test(request.path) ? 1 : 0) };
  }

  async *#untilCut(body: AsyncIterable<Uint8Array>, cut: AbortSignal, count: 0 | 1): AsyncGenerator<Uint8Array> {
    const chunks = body[Symbol.asyncIterator]();
    const isCut = new Promise<'cut'>((resolve) => {
      if (cut.aborted) resolve('cut');
      else cut.addEventListener('abort', () => resolve('cut'), { once: true });
    });
    this.#openWatches += count;
    try {
      for (;;) {
        const next = await Promise.race([chunks.next(), isCut]);
        if (next === 'cut') {
          if (this.#end === 'lost') throw connectionLost();
          yield Buffer.from(EXPIRED);
          return;
        }
        if (next.done) return;
        yield next.value;
      }
    } finally {
      this.#openWatches -= count;
      // Not awaited: the server answers an abandoned watch only with its next event.
      chunks.return?.().catch(() => undefined);
    }
  }
}

/** The watches of the pool controller. Some others are reopened in real time. */
const OF_POOLS = /\/(?:hsmpools|hsmdevices|daemonsets)\?|\/pods\?.*component%3Ddiscovery/;

/** Every watch listens to it. */
function newCut(): AbortController {
  const cut = new AbortController();
  setMaxListeners(0, cut.signal);
  return cut;
}

const EXPIRED = `${JSON.stringify({
  type: 'ERROR',
  object: {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'too old resource version',
    reason: 'Expired',
    code: 410,
  },
})}\n`;

function connectionLost(): TransportError {
  return new TransportError('BOWLINE_TRANSPORT_CONNECTION_LOST', 'the connection to the API server was cut', {
    mayHaveBeenProcessed: true,
  });
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
