import { expect, test } from 'vitest';
import { requestsIn } from './write-requests.ts';

test('counts requests for single ConfigMaps, whatever their answer, and nothing else', () => {
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
  expect(requestsIn(metrics)).toBe(1_501_003);
});
