import type { TextRequest } from './client.ts';

/** PodLogOptions selects what of a container's output is read. */
export interface PodLogOptions {
  /** Defaults to the Pod's only container. */
  readonly container?: string | undefined;
  /** Wait for more output until the container ends; for `streamText`. Defaults to false. */
  readonly follow?: boolean | undefined;
  /** Only the last lines. Defaults to all. */
  readonly tailLines?: number | undefined;
  /** Stop after this many bytes, also in the middle of a line. Defaults to no limit of the server's. */
  readonly limitBytes?: number | undefined;
  /** Only output that is not older. Defaults to all. */
  readonly sinceSeconds?: number | undefined;
  /** Of the container that ran before the last restart. Defaults to false. */
  readonly previous?: boolean | undefined;
  /** Begin every line with its time. Defaults to false. */
  readonly timestamps?: boolean | undefined;
}

/**
 * podLog is the request for the output of a Pod's container, for `readText` and `streamText`. An operator declares it with
 * `allow(['get'], Pod, { subresource: 'log' })`.
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
