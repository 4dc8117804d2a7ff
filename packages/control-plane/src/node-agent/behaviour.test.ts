import { describe, expect, it, test } from 'vitest';
import { type PodBehaviour, parseNodeBehaviour, parsePodBehaviours, parsePodRule } from './behaviour.ts';

describe('parsePodBehaviours', () => {
  it.each<[string, readonly PodBehaviour[]]>([
    ['run', [{ do: 'run' }]],
    [' crash , hang-deletion ', [{ do: 'crash' }, { do: 'hang-deletion' }]],
    ['{"do":"hold","reason":"ImagePullBackOff"}', [{ do: 'hold', reason: 'ImagePullBackOff' }]],
    [
      '[{"do":"complete","exitCode":2},{"do":"hang-deletion"}]',
      [{ do: 'complete', exitCode: 2 }, { do: 'hang-deletion' }],
    ],
  ])('reads %s', (text, expected) => {
    expect(parsePodBehaviours(text)).toEqual(expected);
  });

  it.each([
    ['', 'a pod cannot be told to ""; say one of run, hold'],
    ['explode', 'a pod cannot be told to "explode"'],
    ['toString', 'a pod cannot be told to "toString"'],
    ['{"do":"run"', 'it is not JSON'],
    ['[1]', 'a behaviour must be a word or a JSON object'],
    ['{"do":"run","exitCode":1}', '"run" has no field "exitCode"; it has none'],
    ['{"do":"crash","constructor":1}', '"crash" has no field "constructor"'],
    ['{"do":"crash","exitCode":-1}', '"exitCode" of "crash" must be a whole number of at least 0'],
    [
      '{"do":"crash","restartCount":2147483648}',
      '"restartCount" of "crash" must be a whole number of at least 0 that fits',
    ],
    ['{"do":"crash","containers":"main"}', '"containers" of "crash" must be a list of container names'],
    ['{"do":"fail","reason":1}', '"reason" of "fail" must be a text'],
  ])('refuses %s and says why', (text, problem) => {
    expect(() => parsePodBehaviours(text)).toThrow(
      expect.objectContaining({
        code: 'BOWLINE_STEERING_INVALID',
        message: expect.stringContaining(problem) as string,
      }),
    );
  });
});

test.each([
  ['7', 'a rule must be a JSON object'],
  ['{"pod":"web","behaviour":{"do":"run"}}', 'a rule has no field "pod"; it has name, selector and behaviour'],
  ['{"name":1,"behaviour":{"do":"run"}}', '"name" of a rule must be a text'],
  ['{"name":"web"}', 'a behaviour must be a word or a JSON object'],
])('a rule %s is refused with the reason', (text, problem) => {
  expect(() => parsePodRule(text)).toThrow(problem);
});

test('a node is ready unless it is told otherwise, and refuses what it does not know', () => {
  expect([undefined, 'ready', 'not-ready', 'silent'].map(parseNodeBehaviour)).toEqual([
    'ready',
    'ready',
    'not-ready',
    'silent',
  ]);
  expect(() => parseNodeBehaviour('asleep')).toThrow('say ready, not-ready or silent');
});
