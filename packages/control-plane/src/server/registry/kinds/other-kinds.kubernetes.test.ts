import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CASES as ADMISSION_POLICIES } from './admission-policy-cases.test-support.ts';
import { type BothServers, compareKinds } from './compare-kinds.test-support.ts';
import { CASES as SERVICES } from './core/service/service-cases.test-support.ts';
import { CASES as CORE } from './core-cases.test-support.ts';
import { CASES as EVENTS } from './event-cases.test-support.ts';
import { CASES as NETWORK } from './network-cases.test-support.ts';
import { CASES as POLICY } from './policy-cases.test-support.ts';
import { CASES as STORAGE } from './storage-cases.test-support.ts';

let both: BothServers;
beforeAll(async () => {
  both = await compareKinds({ comparesOwners: true });
});
afterAll(async () => {
  await both?.[Symbol.asyncDispose]();
});

describe('built-in kinds are defaulted, validated and displayed as by the real server', () => {
  const cases = [...CORE, ...SERVICES, ...NETWORK, ...STORAGE, ...POLICY, ...ADMISSION_POLICIES, ...EVENTS];
  it.each(cases.map(([sentence, ...steps]) => ({ sentence, steps })))('$sentence', async ({ steps }) => {
    for (const step of steps) {
      const { real, ours } = await both.sendToBoth(step);
      expect(ours, `${step[0]} ${step[1]} ${JSON.stringify(step[2] ?? '')}`).toEqual(real);
    }
  });
});
