import { expect, it } from 'vitest';
import { logResponse } from './log-server.ts';

it('reports that a container was not executed', () => {
  expect(logResponse('GET', '/containerLogs/demo/web-0/main?follow=true')).toEqual({
    status: 200,
    text: '[node agent] container main of pod demo/web-0 is not executed, so it has no output',
  });
});

it.each([
  ['POST', '/exec/demo/web-0/main?command=sh'],
  ['POST', '/containerLogs/demo/web-0/main'],
  ['GET', '/containerLogs/demo/web-0'],
  ['GET', '/containerLogs/demo/web-0/<script>'],
  ['GET', '/pods'],
])('rejects %s %s', (method, url) => {
  expect(logResponse(method, url)).toMatchObject({ status: 501, text: expect.stringContaining('runs no containers') });
});
