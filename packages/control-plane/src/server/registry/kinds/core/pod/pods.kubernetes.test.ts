import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BothServers, compareKinds } from '../../compare-kinds.test-support.ts';
import { withoutAdmission } from './pod-answers.test-support.ts';
import { POD_LIFE_CASES } from './pod-life-cases.test-support.ts';

const CASES = POD_LIFE_CASES.map(([sentence, ...steps]) => ({ sentence, steps }));

let both: BothServers;
beforeAll(async () => {
  both = await compareKinds();
});
afterAll(() => both[Symbol.asyncDispose]());

describe('as on the real server', () => {
  it.each(CASES)('$sentence', async ({ steps }) => {
    for (const step of steps) {
      const { real, ours } = await both.ask(step);
      expect([step, withoutAdmission(ours)]).toEqual([step, withoutAdmission(real)]);
    }
  });
});
