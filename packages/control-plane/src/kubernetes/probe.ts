import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** ProbeOptions configures a probe. */
export interface ProbeOptions {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
}

/** ProbeResult is the response, or why there was none. */
export type ProbeResult =
  | { readonly status: number; readonly text: string }
  | { readonly status: undefined; readonly text: string };

const TIMEOUT_MS = 5_000;

/**
 * probe sends one request on its own connection and never rejects: a refused connection is a result too. The runtime's client is
 * for servers that are up; its retries and pooling are wrong here.
 */
export function probe(url: string, options: ProbeOptions = {}): Promise<ProbeResult> {
  const { body, ...rest } = options;
  return new Promise((resolve) => {
    const send = url.startsWith('https:') ? requestHttps : requestHttp;
    const request = send(url, { ...rest, agent: false, timeout: TIMEOUT_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', (error) => resolve({ status: undefined, text: error.message }));
    });
    request.on('timeout', () => request.destroy(new Error(`no response within ${TIMEOUT_MS} ms`)));
    request.on('error', (error) => resolve({ status: undefined, text: error.message }));
    request.end(body);
  });
}
