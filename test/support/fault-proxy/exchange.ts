import { type EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { Clock } from '@bowline/machinery';
import type { Endpoint } from './endpoint.ts';
import type { Fault } from './fault.ts';
import { endToEnd, type Upstream } from './upstream.ts';

/** Request is a request of either protocol. */
export type Request = Http2ServerRequest | IncomingMessage;
/** Response is a response of either protocol. */
export type Response = Http2ServerResponse | ServerResponse;

/** Exchange is one proxied request, with the actions that a fault may take. */
export interface Exchange {
  readonly request: Request;
  readonly response: Response;
  readonly upstream: Upstream;
  readonly endpoint: Endpoint;
  readonly wire: Clock;
  /** Aborted when the proxy closes. */
  readonly signal: AbortSignal;
  /** Takes the endpoint down, and up again after this time. */
  readonly restart: (downMs: number) => void;
}

/** A watch line can be as large as an object, which etcd limits to 1.5 MiB; JSON escapes may multiply that. */
const MAX_LINE_BYTES = 16 * 2 ** 20;

/** respondWith responds with a Status in place of the server. */
export function respondWith(response: Response, status: number, retryAfterSeconds?: number): void {
  const reason: Readonly<Record<number, string>> = {
    409: 'Conflict',
    410: 'Expired',
    429: 'TooManyRequests',
    500: 'InternalError',
    503: 'ServiceUnavailable',
  };
  const body = JSON.stringify(statusOf(status, reason[status]));
  const headers = {
    'content-type': 'application/json',
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  };
  writeHead(response, status, headers);
  response.end(body);
}

function statusOf(code: number, reason = 'Unknown') {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `the fault proxy returns ${code}`,
    reason,
    code,
  };
}

/** forward sends the request to the server and the response back, applying the fault. */
export async function forward(exchange: Exchange, fault: Fault | undefined): Promise<void> {
  const { request, response, upstream } = exchange;
  const { method = 'GET', url = '/' } = request;
  const stream = await upstream.request(
    connectionOf(request),
    method,
    url,
    endToEnd(request.headers),
    isBodiless(request),
  );
  const cancel = (): void => stream.close(constants.NGHTTP2_CANCEL);
  response.once('close', cancel);
  exchange.signal.addEventListener('abort', cancel, { once: true });
  stream.on('error', () => {});
  try {
    const answered = Promise.race([once(stream, 'response'), gone(stream)]);
    if (!isBodiless(request)) request.pipe(stream);
    const [headers] = (await answered) as [Record<string, unknown>];
    if (fault?.kind === 'drop' && (fault.afterLines ?? 0) === 0) {
      relayOf(exchange)?.reset();
      return;
    }
    writeHead(response, Number(headers[':status']), endToEnd(headers));
    for await (const line of lines(stream)) {
      if (!(await passLine(exchange, fault, line))) return;
    }
    response.end();
  } finally {
    exchange.signal.removeEventListener('abort', cancel);
    cancel();
  }
}

/** connectionOf returns the value shared by all requests of a front connection. */
export function connectionOf(request: Request): object {
  return 'stream' in request ? (request.stream.session ?? request.stream) : request.socket;
}

async function gone(stream: EventEmitter): Promise<never> {
  await once(stream, 'close');
  throw new Error('the stream closed');
}

function isBodiless(request: Request): boolean {
  return request.method === 'GET' || request.method === 'HEAD';
}

function writeHead(response: Response, status: number, headers: ReturnType<typeof endToEnd>): void {
  // The responses of both protocols have the same methods, but TypeScript cannot unify their types.
  const either = response as ServerResponse;
  either.writeHead(status, headers);
  either.flushHeaders();
}

/** relayOf returns the TCP connection of a request. */
export function relayOf(exchange: Exchange) {
  return exchange.endpoint.relayOf(exchange.request.socket.remotePort);
}

interface Line {
  readonly bytes: Buffer;
  readonly index: number;
}

/** lines yields bytes by line, each with its line feed; a body without any is one line. */
async function* lines(body: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let rest: Buffer = Buffer.alloc(0);
  let index = 0;
  for await (const chunk of body) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      yield { bytes: rest.subarray(0, at + 1), index: index++ };
      rest = rest.subarray(at + 1);
    }
    if (rest.length > MAX_LINE_BYTES) throw new Error('a line is longer than the proxy allows');
  }
  if (rest.length > 0) yield { bytes: rest, index };
}

/** passLine sends a line, or what the fault makes of it, and returns whether to continue. */
async function passLine(exchange: Exchange, fault: Fault | undefined, line: Line): Promise<boolean> {
  const { response, wire, signal } = exchange;
  if (fault === undefined) return await send(response, line.bytes);
  if (fault.kind === 'duplicate-bookmark') {
    const isBookmark = line.bytes.subarray(0, 64).includes('"type":"BOOKMARK"');
    return await send(response, isBookmark ? Buffer.concat([line.bytes, line.bytes]) : line.bytes);
  }
  const strikes = 'afterLines' in fault ? (fault.afterLines ?? 0) === line.index : line.index === 0;
  if (!strikes) return await send(response, line.bytes);
  const relay = relayOf(exchange);
  switch (fault.kind) {
    case 'truncate':
      await send(response, line.bytes.subarray(0, Math.ceil(line.bytes.length / 2)));
      response.end();
      return false;
    case 'end':
      response.end();
      return false;
    case 'watch-error': {
      const reason = fault.code === 410 ? 'Expired' : 'InternalError';
      const event = { type: 'ERROR', object: statusOf(fault.code, reason) };
      await send(response, Buffer.from(`${JSON.stringify(event)}\n`));
      response.end();
      return false;
    }
    case 'drop':
      await relay?.quiet();
      relay?.reset();
      return false;
    case 'half-open':
      await relay?.quiet();
      relay?.hold({ toServer: true, toClient: true });
      return false;
    case 'stall':
      await relay?.quiet();
      relay?.hold({ toServer: false, toClient: true });
      await wire.sleep(fault.ms, signal).catch(() => undefined);
      relay?.hold({ toServer: false, toClient: false });
      return await send(response, line.bytes);
    default:
      return await send(response, line.bytes);
  }
}

/** send writes with back-pressure; false if the client is gone. */
function send(response: Response, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    if (response.destroyed || response.writableEnded) {
      resolve(false);
      return;
    }
    const onClose = (): void => resolve(false);
    response.once('close', onClose);
    (response as ServerResponse).write(bytes, (error) => {
      response.off('close', onClose);
      resolve(!error);
    });
  });
}
