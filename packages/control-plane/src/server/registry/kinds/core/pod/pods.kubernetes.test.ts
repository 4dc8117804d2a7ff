import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BothServers, compareKinds } from '../../compare-kinds.test-support.ts';
import { POD_LIFECYCLE_CASES } from './pod-lifecycle-cases.test-support.ts';
import { withoutAdmission } from './pod-responses.test-support.ts';

const CASES = POD_LIFECYCLE_CASES.map(([sentence, ...steps]) => ({ sentence, steps }));

let both: BothServers;
beforeAll(async () => {
  both = await compareKinds();
});
afterAll(() => both[Symbol.asyncDispose]());

describe('as on the real server', () => {
  it.each(CASES)('$sentence', async ({ steps }) => {
    for (const step of steps) {
      const { real, ours } = await both.sendToBoth(step);
      expect([step, withoutAdmission(ours)]).toEqual([step, withoutAdmission(real)]);
    }
  });
});
