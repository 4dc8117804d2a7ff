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
    ['', 'unknown pod behaviour ""; use one of run, hold'],
    ['explode', 'unknown pod behaviour "explode"'],
    ['toString', 'unknown pod behaviour "toString"'],
    ['{"do":"run"', 'it is not JSON'],
    ['[1]', 'a behaviour must be a name or a JSON object'],
    ['{"do":"run","exitCode":1}', '"run" has no field "exitCode"; it has none'],
    ['{"do":"crash","constructor":1}', '"crash" has no field "constructor"'],
    ['{"do":"crash","exitCode":-1}', '"exitCode" of "crash" must be a non-negative integer'],
    ['{"do":"crash","restartCount":2147483648}', '"restartCount" of "crash" must be a non-negative integer that fits'],
    ['{"do":"crash","containers":"main"}', '"containers" of "crash" must be a list of container names'],
    ['{"do":"fail","reason":1}', '"reason" of "fail" must be a string'],
  ])('rejects %s and explains why', (text, problem) => {
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
  ['{"name":1,"behaviour":{"do":"run"}}', '"name" of a rule must be a string'],
  ['{"name":"web"}', 'a behaviour must be a name or a JSON object'],
])('a rule %s is rejected with the reason', (text, problem) => {
  expect(() => parsePodRule(text)).toThrow(problem);
});

test('a node is ready by default and rejects unknown behaviours', () => {
  expect([undefined, 'ready', 'not-ready', 'silent'].map(parseNodeBehaviour)).toEqual([
    'ready',
    'ready',
    'not-ready',
    'silent',
  ]);
  expect(() => parseNodeBehaviour('asleep')).toThrow('use ready, not-ready or silent');
});
