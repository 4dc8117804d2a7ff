import { expect, test } from 'vitest';
import { requestsIn } from './request-counts.ts';

test('counts exactly the requests of a selection, regardless of their status', () => {
  const line = (verb: string, resource: string, code: string, value: string): string =>
    `apiserver_request_total{code="${code}",component="apiserver",group="",resource="${resource}",verb="${verb}"} ${value}`;
  const metrics = [
    '# TYPE apiserver_request_total counter',
    line('POST', 'configmaps', '201', '1000'),
    line('POST', 'configmaps', '409', '3'),
    line('APPLY', 'configmaps', '200', '1.5e+06'),
    line('LIST', 'configmaps', '200', '7'),
    line('WATCH', 'configmaps', '200', '8'),
    line('POST', 'secrets', '201', '9'),
    'apiserver_request_duration_seconds_count{resource="configmaps",verb="POST"} 5',
  ].join('\n');
  expect(requestsIn(metrics, { resources: ['configmaps'], verbs: ['POST', 'APPLY'] })).toBe(1_501_003);
  expect(requestsIn(metrics, { resources: ['secrets', 'configmaps'], verbs: ['POST'] })).toBe(1_012);
});
