import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Clock } from '@bowline/machinery';

/** GatewayRequest is one request to the gateway. */
export interface GatewayRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Sent as JSON. Defaults to no body. */
  readonly body?: object | undefined;
  /** Whether the API key is sent. Defaults to true. */
  readonly isAuthenticated?: boolean | undefined;
}

/** GatewayResponse is the response to a request, whatever its status. */
export interface GatewayResponse {
  readonly status: number;
  /** Never log it: a response might repeat the API key. */
  readonly text: string;
}

/** SendOptions configures how a request is sent. */
export interface SendOptions {
  readonly port: number;
  readonly tls: boolean;
  /** Undefined: none is sent. */
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
  /** For the timeout. */
  readonly wire: Pick<Clock, 'setTimer'>;
  readonly signal: AbortSignal;
}

/** TOO_LARGE is the code of the error for a response with more than MAX_RESPONSE_BYTES. */
export const TOO_LARGE = 'ERESPONSETOOLARGE';
/** MAX_RESPONSE_BYTES is the maximum size of a response: thousands of projects or sessions. */
export const MAX_RESPONSE_BYTES = 1024 * 1024;

/**
 * The gateway runs in the same pod, so the connection never leaves the loopback interface of the pod. Its certificate
 * is for the name by which users reach it, or was generated when it was installed, so that it would never be valid for
 * 127.0.0.1. A process that could listen on this port instead is in the pod as well, where it has the data folder
 * anyway. Verification would therefore protect nothing and would fail on most gateways.
 */
const UNVERIFIED = { rejectUnauthorized: false, minVersion: 'TLSv1.2' } as const;

/**
 * sendRequest sends a request to 127.0.0.1. Redirects are not followed, so that the API key is sent nowhere else. Each
 * request has its own connection: there are few, and a gateway may restart between them.
 */
export async function sendRequest(request: GatewayRequest, options: SendOptions): Promise<GatewayResponse> {
  const { port, tls, apiKey, timeoutMs, wire, signal } = options;
  const { method, path, body } = request;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    accept: 'application/json',
    ...(apiKey === undefined ? {} : { 'x-ignition-api-token': apiKey }),
    ...(text === undefined ? {} : { 'content-type': 'application/json' }),
    // Of a POST without a body, too.
    ...(method === 'POST' ? { 'content-length': Buffer.byteLength(text ?? '') } : {}),
  };
  const common = { host: '127.0.0.1', port, method, path, headers, signal, agent: false } as const;
  return await new Promise((resolve, reject) => {
    const receive = (response: IncomingMessage): void => {
      readText(response).then((received) => resolve({ status: response.statusCode ?? 0, text: received }), reject);
    };
    const sent = tls ? requestHttps({ ...common, ...UNVERIFIED }, receive) : requestHttp(common, receive);
    const timer = wire.setTimer(timeoutMs, () => sent.destroy(withCode('the request timed out', 'ETIMEDOUT')));
    sent.on('error', reject);
    sent.on('close', () => {
      timer.cancel();
      // After a response that was cut off there is no other event.
      reject(withCode('the connection was closed', 'ECONNRESET'));
    });
    sent.end(text);
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Leaving the loop ends the request.
    if (size > MAX_RESPONSE_BYTES) throw withCode('the response is too large', TOO_LARGE);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function withCode(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
