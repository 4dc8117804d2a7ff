import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { type ScriptedResponse, ScriptedTransport } from '../client/scripted-transport.test-support.ts';
import { silentLog } from '../observability/log.ts';
import { MetricsAccess } from './metrics-access.ts';

const token = (authenticated: boolean): ScriptedResponse => ({
  status: 201,
  body: {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: {},
    status: { authenticated, user: { username: 'prometheus', groups: ['scrapers'], extra: { a: ['b'] } } },
  },
});
const access = (allowed: boolean): ScriptedResponse => ({
  status: 201,
  body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec: {}, status: { allowed } },
});

function accessTo(...answers: ScriptedResponse[]) {
  const transport = new ScriptedTransport(...answers);
  const wire = new VirtualClock();
  const log = { ...silentLog };
  return { transport, wire, access: new MetricsAccess({ client: createClient({ transport, wire }), wire, log }) };
}

describe('MetricsAccess', () => {
  it('reviews the token, and whether its user may get the URL', async () => {
    const { access: metrics, transport } = accessTo(token(true), access(true));
    expect(await metrics.decide('Bearer abc')).toBe('allowed');
    expect(transport.sent(0)).toMatchObject({ kind: 'TokenReview', spec: { token: 'abc' } });
    expect(transport.sent(1)).toMatchObject({
      kind: 'SubjectAccessReview',
      spec: {
        user: 'prometheus',
        groups: ['scrapers'],
        extra: { a: ['b'] },
        nonResourceAttributes: { path: '/metrics', verb: 'get' },
      },
    });
  });

  it.each([undefined, '', 'Basic abc', 'Bearer', 'Bearer a b'])('sends no review for %j', async (authorization) => {
    const { access: metrics, transport } = accessTo();
    expect(await metrics.decide(authorization)).toBe('unauthenticated');
    expect(transport.requests).toEqual([]);
  });

  it('caches allowed tokens for a minute and denied ones for ten seconds', async () => {
    const {
      access: metrics,
      transport,
      wire,
    } = accessTo(
      ...[token(true), access(true), token(true), access(false), token(false)],
      ...[token(true), access(true)],
    );
    expect([await metrics.decide('Bearer a'), await metrics.decide('bearer a')]).toEqual(['allowed', 'allowed']);
    expect([await metrics.decide('Bearer b'), await metrics.decide('Bearer b')]).toEqual(['forbidden', 'forbidden']);
    expect(transport.requests).toHaveLength(4);
    await wire.advance(10_000);
    expect(await metrics.decide('Bearer b')).toBe('unauthenticated');
    expect(await metrics.decide('Bearer a')).toBe('allowed');
    expect(transport.requests).toHaveLength(5);
    await wire.advance(50_000);
    expect(await metrics.decide('Bearer a')).toBe('allowed');
    expect(transport.requests).toHaveLength(7);
  });

  it('sends one review for concurrent requests, and reviews at most eight unknown tokens at a time', async () => {
    const answers = Array.from({ length: 8 }, () => token(false));
    const { access: metrics, transport } = accessTo(...answers);
    const same = await Promise.all([metrics.decide('Bearer a'), metrics.decide('Bearer a')]);
    expect(same).toEqual(['unauthenticated', 'unauthenticated']);
    expect(transport.requests).toHaveLength(1);
    const verdicts = await Promise.all(Array.from({ length: 9 }, (_, index) => metrics.decide(`Bearer s${index}`)));
    expect(verdicts.filter((verdict) => verdict === 'unavailable').length).toBeGreaterThanOrEqual(1);
    expect(transport.requests.length).toBeLessThanOrEqual(9);
  });

  it('does not cache failures to reach the API server', async () => {
    const broken = { status: 500, body: { kind: 'Status', status: 'Failure', code: 500, reason: 'InternalError' } };
    const { access: metrics } = accessTo({ ...broken }, token(true), access(true));
    expect(await metrics.decide('Bearer a')).toBe('unavailable');
    expect(await metrics.decide('Bearer a')).toBe('allowed');
  });
});
