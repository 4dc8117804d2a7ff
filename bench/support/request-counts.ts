import type { Api } from './api.ts';

/** RequestSelection selects the requests to count. */
export interface RequestSelection {
  /** Plural names. */
  readonly resources: readonly string[];
  /** As in the server's metrics, such as `POST`, `APPLY` or `LIST`. */
  readonly verbs: readonly string[];
}

/** WRITES are the verbs that change something. */
export const WRITES: readonly string[] = ['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE'];

/** countRequests returns how many of these requests the API server has handled since its start. */
export async function countRequests(api: Api, selection: RequestSelection): Promise<number> {
  return requestsIn(await api.ok('GET', '/metrics'), selection);
}

/** requestsIn sums the server's own counters. */
export function requestsIn(metrics: string, { resources, verbs }: RequestSelection): number {
  let sum = 0;
  for (const [, labels = '', value] of metrics.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const verb = /verb="(\w+)"/.exec(labels)?.[1] ?? '';
    const resource = /resource="(\w+)"/.exec(labels)?.[1] ?? '';
    if (resources.includes(resource) && verbs.includes(verb)) sum += Number(value);
  }
  return sum;
}
