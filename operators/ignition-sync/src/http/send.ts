import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '@bowline/machinery';

/** HttpCall is one request to a service. */
export interface HttpCall {
  readonly url: URL;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Defaults to none. */
  readonly body?: string | Readable | undefined;
  /** How long the request may take in total. */
  readonly timeoutMs: number;
  /** Certificate authorities (PEM) to trust besides those of the system. Defaults to none. */
  readonly ca?: string | undefined;
}

/** HttpAnswer is the response, whatever its status. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: AsyncIterable<Buffer>;
}

/**
 * send sends a request, passes the response to `read`, and returns what that returns. Redirects are not followed. It rejects if
 * there is no response, or if all of it takes longer than the timeout.
 */
export async function send<T>(
  call: HttpCall,
  read: (answer: HttpAnswer) => Promise<T>,
  { signal, wire }: { readonly signal: AbortSignal; readonly wire: Pick<Clock, 'setTimer'> },
): Promise<T> {
  const { url, method, headers = {}, body, timeoutMs, ca } = call;
  signal.throwIfAborted();
  const late = new AbortController();
  using _timer = wire.setTimer(timeoutMs, () => late.abort(timeoutError(url, timeoutMs)));
  const ending = AbortSignal.any([signal, late.signal]);
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const request = send(url, { method, headers, agent: false, signal: ending, ...(ca === undefined ? {} : { ca }) });
  const received = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
  received.catch(() => undefined);
  try {
    if (body === undefined || typeof body === 'string') request.end(body);
    // A server may respond before it has read everything; what it responds decides.
    else await Promise.race([pipeline(body, request), received]);
    const response = await received;
    // A connection that breaks later makes the body throw; without a listener it would end the process.
    request.on('error', () => undefined);
    return await read({ status: response.statusCode ?? 0, headers: response.headers, body: response });
  } catch (error) {
    signal.throwIfAborted();
    throw late.signal.aborted ? late.signal.reason : error;
  } finally {
    request.destroy();
  }
}

/** readText returns the start of a response as text, and reads no further. */
export async function readText({ body }: HttpAnswer, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8');
}

/** codeOf returns the code of a failed connection, for messages: the error itself may contain what was received. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'the connection failed';
}

function timeoutError(url: URL, timeoutMs: number): Error {
  return Object.assign(new Error(`${url.host} did not respond within ${timeoutMs / 1000} s`), { code: 'ETIMEDOUT' });
}
