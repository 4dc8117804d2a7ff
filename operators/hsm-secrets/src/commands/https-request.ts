import { request } from 'node:https';

/** HttpsRequestOptions configures a request with a token to a server with a certificate of a private CA. */
export interface HttpsRequestOptions {
  readonly method: string;
  readonly token: string;
  readonly body?: object | undefined;
  /** The trusted CAs, in PEM format. */
  readonly ca: string;
  /** The name in the server's certificate, whatever address it is called at. */
  readonly serverName: string;
  readonly signal: AbortSignal;
}

/** More than the largest secret, in base64. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
/** Longer than the API takes for its slowest request. */
const TIMEOUT_MS = 120_000;

/** httpsRequest sends a request and returns the status and text of the response. Each request has its own connection. */
export function httpsRequest(
  url: URL,
  options: HttpsRequestOptions,
): Promise<{ readonly status: number; readonly text: string }> {
  const { method, token, body, ca, serverName, signal } = options;
  const text = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        ...{ method, ca, servername: serverName, signal },
        minVersion: 'TLSv1.3',
        // Another connection may reach another replica.
        agent: false,
        timeout: TIMEOUT_MS,
        headers: {
          authorization: `Bearer ${token}`,
          ...(text ? { 'content-type': 'application/json', 'content-length': text.length } : {}),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          chunks.push(chunk);
          if (size > MAX_RESPONSE_BYTES) response.destroy(new Error('the response is too large'));
        });
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        );
      },
    );
    sent.on('timeout', () => sent.destroy(Object.assign(new Error('the request timed out'), { code: 'ETIMEDOUT' })));
    sent.on('error', reject);
    // It may contain values or a PIN.
    sent.on('close', () => text?.fill(0));
    sent.end(text);
  });
}
