import type { Resource } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { TransportResponse } from '../transport/transport.ts';

/** StatusError is a response that reports a failure. */
export class StatusError extends Error {
  readonly code: number;
  readonly reason: string | undefined;
  readonly details: object | undefined;

  constructor(code: number, reason?: string, message = `refused with ${code}`, details?: object) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

/** throwNotFound throws the error about a missing object. */
export function throwNotFound(kind: Resource, name: string): never {
  const details = { group: kind.group, kind: kind.plural, name };
  throw new StatusError(404, 'NotFound', `${kind.plural} "${name}" not found`, details);
}

/** errorResponse returns the response for an error. */
export function errorResponse({ code, reason, message, details }: StatusError, wire: Clock): TransportResponse {
  const status = { apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason, details, message };
  return jsonResponse(code, status, wire);
}

/** jsonResponse returns a response with one JSON value. */
export function jsonResponse(status: number, value: object, wire: Clock): TransportResponse {
  const chunk = Buffer.from(JSON.stringify(value));
  const body = (async function* () {
    yield chunk;
  })();
  return streamResponse(status, body, wire);
}

/** streamResponse returns a response with a stream of JSON. */
export function streamResponse(status: number, body: AsyncIterable<Uint8Array>, wire: Clock): TransportResponse {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body,
    text: async () => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      return Buffer.concat(chunks).toString('utf8');
    },
    aliveAt: () => wire.monotonic(),
  };
}
