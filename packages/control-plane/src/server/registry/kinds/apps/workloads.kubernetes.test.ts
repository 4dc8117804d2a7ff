import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OTHER_CASES } from '../batch/job-cases.test-support.ts';
import { type BothServers, compareKinds } from '../compare-kinds.test-support.ts';
import { POD_CASES } from '../core/pod/pod-cases.test-support.ts';
import { withoutAdmission, withoutControllers } from '../core/pod/pod-responses.test-support.ts';
import { WORKLOAD_CASES } from './workload-cases.test-support.ts';

/** Kinds that no controller writes to. */
const UNCONTROLLED_KINDS = /controllerrevisions/;

const CASES = [...POD_CASES, ...WORKLOAD_CASES, ...OTHER_CASES].map(([sentence, ...steps]) => ({ sentence, steps }));

let both: BothServers;
beforeAll(async () => {
  both = await compareKinds();
});
afterAll(() => both[Symbol.asyncDispose]());

describe('workloads behave as on the real server', () => {
  it.each(CASES)('$sentence', async ({ steps }) => {
    for (const step of steps) {
      const { real, ours } = await both.sendToBoth(step);
      const [found, wanted] = [withoutAdmission(ours), withoutAdmission(real)];
      // From the second request on, controllers may have changed the objects.
      if (step === steps[0] || UNCONTROLLED_KINDS.test(step[1])) expect([step, found]).toEqual([step, wanted]);
      else expect([step, withoutControllers(found)]).toEqual([step, withoutControllers(wanted)]);
    }
  });
});
