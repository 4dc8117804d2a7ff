import type { TextRequest } from './client.ts';

/** PodLogOptions selects which part of a container's output is read. */
export interface PodLogOptions {
  /** Defaults to the Pod's only container. */
  readonly container?: string | undefined;
  /** Waits for more output until the container ends; for `streamText`. Defaults to false. */
  readonly follow?: boolean | undefined;
  /** Return only the last lines. Defaults to all. */
  readonly tailLines?: number | undefined;
  /** Stop after this many bytes, even in the middle of a line. Defaults to no server-side limit. */
  readonly limitBytes?: number | undefined;
  /** Return only output that is newer than this many seconds. Defaults to all. */
  readonly sinceSeconds?: number | undefined;
  /** Return the output of the container before its last restart. Defaults to false. */
  readonly previous?: boolean | undefined;
  /** Prefix every line with its timestamp. Defaults to false. */
  readonly timestamps?: boolean | undefined;
}

/**
 * podLog builds the request for the output of a Pod's container, for `readText` and `streamText`. An operator declares
 * it with `allow(['get'], Pod, { subresource: 'log' })`.
 *
 * @example
 * const text = await client.readText(Pod, key, podLog({ container: 'app', tailLines: 20 }));
 */
export function podLog(options: PodLogOptions = {}): Pick<TextRequest, 'subresource' | 'query'> {
  const { container, follow, tailLines, limitBytes, sinceSeconds, previous, timestamps } = options;
  return {
    subresource: 'log',
    query: { container, follow, tailLines, limitBytes, sinceSeconds, previous, timestamps },
  };
}
