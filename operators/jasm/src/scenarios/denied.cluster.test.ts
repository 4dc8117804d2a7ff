import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECRET_ANNOTATIONS } from '../api/names.ts';
import { valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

let c: Scenario;

beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

describe.each(['AccessDeniedException', 'AccessDenied'] as const)('scenario 09 denied with %s', (denial) => {
  const name = denial.toLowerCase();

  it(`scenario 09 names the missing permission when denied with ${denial}, and no identity`, async () => {
    await c.aws.put(c.path(name), { password: 'canary-of-nine' });
    c.aws.fail(`GetSecretValue ${c.path(name)}`, denial, denial);
    await c.createPod(name, c.fromAws(name));
    const { type, note = '' } = await c.untilEvent(name, 'SecretFetchFailed');
    expect(type).toBe('Warning');
    expect(note).toContain('secretsmanager:GetSecretValue');
    expect(note).toContain(c.path(name));
    expect(note).not.toMatch(/canary|AROA|[0-9a-f]{8}-[0-9a-f]{4}|assumed-role/);
    await c.idle();
    expect(c.callsFor(name)).toEqual(['GetSecretValue']);
    // Not fast, but automatically, and without another event.
    await c.advanceTime(60_000);
    expect(c.callsFor(name)).toHaveLength(2);
    expect(await c.events(name)).toEqual(['Warning SecretFetchFailed']);
    await c.advanceTime(120_000);
    expect(valuesOf(await c.untilSecret(name))).toEqual({ password: 'canary-of-nine' });
  });

  it(`scenario 09 keeps the content of a Secret when reading its source is denied with ${denial}`, async () => {
    const held = `held-${name}`;
    await c.aws.put(c.path(held), { password: 'good' });
    await c.createPod(held, c.fromAws(held));
    const before = await c.untilSecret(held);
    await c.aws.put(c.path(held), { password: 'better' });
    c.aws.fail(`GetSecretValue ${c.path(held)}`, denial);
    await c.force(held, '1');
    await c.untilEvent(held, 'SecretFetchFailed');
    expect((await c.untilSecret(held)).metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
  });

  it(`scenario 09 reads the value when reading the version is denied with ${denial}`, async () => {
    const probed = `probed-${name}`;
    const version = await c.aws.put(c.path(probed), { password: 'x' });
    await c.createPod(`${probed}-1`, c.fromAws(probed));
    await c.untilSecret(probed);
    c.aws.fail(`DescribeSecret ${c.path(probed)}`, denial);
    await c.createPod(`${probed}-2`, c.fromAws(probed));
    await c.untilEvent(`${probed}-2`, 'SecretSyncSuccess');
    expect(c.callsFor(probed)).toEqual(['GetSecretValue', 'DescribeSecret', 'GetSecretValue']);
    expect((await c.untilSecret(probed)).metadata?.annotations?.[SECRET_ANNOTATIONS.version]).toBe(version);
  });
});
