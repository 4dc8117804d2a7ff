import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { shortDelays, untilAttempted } from './attempts.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';
import type { StoreFault } from './scenario-store.test-support.ts';

/** The time limit of a call. */
const MAX_CALL_MS = 30_000;

let c: Scenario;

beforeAll(async () => {
  c = await startScenario({
    random: shortDelays(),
    // A failing test leaves calls in progress, which would be waited for.
    drainTimeoutMs: 0,
  });
});
afterAll(() => c[Symbol.asyncDispose]());

const untilCalledFor = (name: string, times: number): Promise<void> =>
  untilAttempted(c.clock, () => c.callsFor(name), times);

const repeated = <T>(count: number, what: T): readonly T[] => Array.from({ length: count }, () => what);

describe.each([
  ['status 500', repeated(3, 'InternalServiceError')],
  ['a failing gateway', repeated(2, 'unavailable')],
  ['throttling', repeated(4, 'ThrottlingException')],
  ['reset connections', repeated(2, 'reset')],
  ['five different faults', ['reset', 'ThrottlingException', 'unavailable', 'InternalServiceError', 'reset']],
] satisfies readonly (readonly [string, readonly StoreFault[]])[])('scenario 08 with %s', (what, faults) => {
  it(`scenario 08 recovers from ${what} without a warning`, async () => {
    const name = what.replaceAll(' ', '-');
    await c.aws.put(c.path(name), { password: 'x' });
    c.aws.fail(`GetSecretValue ${c.path(name)}`, ...faults);
    await c.createPod(name, c.fromAws(name));
    await untilCalledFor(name, faults.length + 1);
    expect(valuesOf(await c.untilSecret(name))).toEqual({ password: 'x' });
    await c.untilEvent(name, 'SecretSyncSuccess');
    expect(await c.events(name)).toEqual(['Normal SecretSyncSuccess']);
    expect(c.callsFor(name)).toHaveLength(faults.length + 1);
  });
});

it('scenario 08 ends a call after 30 s, retries it, and serves other pods meanwhile', async () => {
  for (const name of ['stuck', 'free']) await c.aws.put(c.path(name), { password: 'x' });
  c.aws.fail(`GetSecretValue ${c.path('stuck')}`, 'hang');
  const hanging = c.aws.hanging();
  await c.createPod('stuck', c.fromAws('stuck'));
  await hanging;
  await c.createPod('free', c.fromAws('free'));
  await c.untilSecret('free');
  await c.clock.advance(MAX_CALL_MS - 1);
  expect(c.callsFor('stuck')).toHaveLength(1);
  await c.clock.advance(1);
  await untilCalledFor('stuck', 2);
  await c.untilSecret('stuck');
  await c.untilEvent('stuck', 'SecretSyncSuccess');
  expect(await c.events('stuck')).toEqual(['Normal SecretSyncSuccess']);
});

it('scenario 08 calls at most six times, warns once however long a failure lasts, and keeps the content', async () => {
  await c.aws.put(c.path('down'), { password: 'good' });
  await c.createPod('down', c.fromAws('down'));
  const { metadata } = await c.untilSecret('down');
  await c.untilEvent('down', 'SecretSyncSuccess');
  await c.aws.put(c.path('down'), { password: 'better' });
  c.aws.fail(`GetSecretValue ${c.path('down')}`, ...repeated(18, 'InternalServiceError' as const));
  await c.force('down', '1');
  for (const [round, pauseMs] of [1_000, 2_000, 4_000].entries()) {
    const calls = 1 + 6 * (round + 1);
    await untilCalledFor('down', calls);
    await c.idle();
    expect(c.callsFor('down')).toHaveLength(calls);
    expect((await c.untilEvent('down', 'SecretFetchFailed')).note).toMatch(
      /temporarily unavailable \(InternalServiceError\)/,
    );
    expect((await c.untilSecret('down')).metadata?.resourceVersion).toBe(metadata?.resourceVersion);
    await c.clock.advance(pauseMs);
  }
  await c.untilSecret('down', (secret) => valuesOf(secret).password === 'better');
  await c.untilEvent('down', 'SecretSyncSuccess', ({ note }) => note?.includes('was updated') ?? false);
  const warnings = (await c.events('down')).filter((event) => event.startsWith('Warning'));
  expect(warnings).toEqual(['Warning SecretFetchFailed']);
});
