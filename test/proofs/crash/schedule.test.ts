import { describe, expect, it } from 'vitest';
import { scenario as configMapSync } from './scenarios/configmap-sync/scenario.ts';
import { scenario as jasm } from './scenarios/jasm/scenario.ts';
import { deedOf, goesOn, notPlayed, shareOf } from './schedule.ts';

describe('the schedule of cases', () => {
  it.each([
    [configMapSync, ['fan-out', 'deletion']],
    [jasm, ['first sync', 'deletion']],
  ])(
    'plays the making and the deletion of everything first, and each deed once before any again',
    (scenario, first) => {
      const { deeds } = scenario;
      const played = Array.from({ length: deeds.length }, (_, index) => deedOf(deeds, 1 + index));
      expect(played.slice(0, 2)).toEqual(first);
      expect(played).toEqual(deeds);
      expect(deedOf(deeds, 1 + deeds.length)).toBe(first[0]);
      expect(deeds).toContain(deedOf(deeds, 0));
    },
  );

  it.each([
    ['two cases when the time is over already', { played: 1, runs: 15, elapsedMs: 60_000, seconds: 15 }, true],
    ['no third one then', { played: 2, runs: 15, elapsedMs: 60_000, seconds: 15 }, false],
    ['more while there is time', { played: 2, runs: 15, elapsedMs: 14_000, seconds: 15 }, true],
    ['no more than were asked for', { played: 1, runs: 1, elapsedMs: 0, seconds: 15 }, false],
  ])('plays %s', (_, progress, expected) => {
    expect(goesOn(progress)).toBe(expected);
  });

  it('gives time by the number of deeds, and says for which there was none', () => {
    const [many, few] = [['a', 'b', 'c', 'd'], ['e']];
    expect([shareOf(50, many, [many, few]), shareOf(50, few, [many, few])]).toEqual([40, 10]);
    expect(notPlayed(many, [{ deed: 'b' }, { deed: 'a' }])).toEqual(['c', 'd']);
  });
});
