import type { Api } from '../../support/api.ts';

const verbs = new Set(['GET', 'POST', 'PUT', 'PATCH', 'APPLY', 'DELETE']);

/** configMapRequests is how many requests for single ConfigMaps the API server has answered since its start. */
export async function configMapRequests(api: Api): Promise<number> {
  return requestsIn(await api.ok('GET', '/metrics'));
}

/** requestsIn adds up the server's own counters. */
export function requestsIn(metrics: string): number {
  let sum = 0;
  for (const [, labels = '', value] of metrics.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const verb = /verb="(\w+)"/.exec(labels)?.[1] ?? '';
    if (labels.includes('resource="configmaps"') && verbs.has(verb)) sum += Number(value);
  }
  return sum;
}
