import { expect, it } from 'vitest';
import { answer } from './log-server.ts';

it('says of a container that it was not executed, and nothing else', () => {
  expect(answer('GET', '/containerLogs/demo/web-0/main?follow=true')).toEqual({
    status: 200,
    text: '[node agent] container main of pod demo/web-0 is not executed, so it has written nothing',
  });
});

it.each([
  ['POST', '/exec/demo/web-0/main?command=sh'],
  ['POST', '/containerLogs/demo/web-0/main'],
  ['GET', '/containerLogs/demo/web-0'],
  ['GET', '/containerLogs/demo/web-0/<script>'],
  ['GET', '/pods'],
])('refuses %s %s', (method, url) => {
  expect(answer(method, url)).toMatchObject({ status: 501, text: expect.stringContaining('runs no containers') });
});
