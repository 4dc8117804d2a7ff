import { describe, expect, it } from 'vitest';
import { scenario as configMapSync } from './scenarios/configmap-sync/scenario.ts';
import { scenario as jasm } from './scenarios/jasm/scenario.ts';
import { actionOf, notPlayed, shareOf, shouldContinue } from './schedule.ts';

describe('the schedule of cases', () => {
  it.each([
    [configMapSync, ['fan-out', 'deletion']],
    [jasm, ['first sync', 'deletion']],
  ])(
    'runs the creation and the deletion of everything first, and each action once before repeating any',
    (scenario, first) => {
      const { actions } = scenario;
      const played = Array.from({ length: actions.length }, (_, index) => actionOf(actions, 1 + index));
      expect(played.slice(0, 2)).toEqual(first);
      expect(played).toEqual(actions);
      expect(actionOf(actions, 1 + actions.length)).toBe(first[0]);
      expect(actions).toContain(actionOf(actions, 0));
    },
  );

  it.each([
    ['two cases even if the time has passed', { played: 1, runs: 15, elapsedMs: 60_000, seconds: 15 }, true],
    ['no third one in that case', { played: 2, runs: 15, elapsedMs: 60_000, seconds: 15 }, false],
    ['more while there is time', { played: 2, runs: 15, elapsedMs: 14_000, seconds: 15 }, true],
    ['no more than requested', { played: 1, runs: 1, elapsedMs: 0, seconds: 15 }, false],
  ])('plays %s', (_, progress, expected) => {
    expect(shouldContinue(progress)).toBe(expected);
  });

  it('shares time by the number of actions, and reports for which there was none', () => {
    const [many, few] = [['a', 'b', 'c', 'd'], ['e']];
    expect([shareOf(50, many, [many, few]), shareOf(50, few, [many, few])]).toEqual([40, 10]);
    expect(notPlayed(many, [{ action: 'b' }, { action: 'a' }])).toEqual(['c', 'd']);
  });
});
