import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** ProbeOptions is how to ask. */
export interface ProbeOptions {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
}

/** ProbeResult is the answer, or why there was none. */
export type ProbeResult =
  | { readonly status: number; readonly text: string }
  | { readonly status: undefined; readonly text: string };

const TIMEOUT_MS = 5_000;

/**
 * probe asks once, on a connection of its own, and never rejects: nobody listening yet is an answer too. The runtime's
 * client is for servers that are up; it repeats and pools, which is wrong here.
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
    request.on('timeout', () => request.destroy(new Error(`no answer in ${TIMEOUT_MS} ms`)));
    request.on('error', (error) => resolve({ status: undefined, text: error.message }));
    request.end(body);
  });
}
