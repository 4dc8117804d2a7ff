import { seededRandom, VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import type { BowlineError } from '../errors/bowline-error.ts';
import { createMetrics } from '../observability/create-metrics.ts';
import type { Fields, Log } from '../observability/log.ts';
import { LeaderElector, type LeaderElectorOptions } from './leader-elector.ts';
import type { Leadership } from './leadership.ts';
import { LeaseApi, type Link, leaseClient, SimulatedProcess } from './lease-world.test-support.ts';

const key = { namespace: 'bowline-system', name: 'bowline-demo' };

function world() {
  const clock = new VirtualClock();
  const api = new LeaseApi(clock);
  return {
    clock,
    api,
    candidate(identity: string, options: Partial<LeaderElectorOptions> & { wallOffsetMs?: number } = {}) {
      const process = new SimulatedProcess(clock, options.wallOffsetMs);
      const link: Link = { latencyMs: 10, loss: 0 };
      const random = seededRandom(identity.length);
      const lines: { level: string; message: string; fields: Fields }[] = [];
      const elector = new LeaderElector({
        client: leaseClient(api, clock, process, random, link, identity),
        lease: key,
        identity,
        wire: process,
        random,
        log: recorder(lines),
        ...options,
      });
      return { elector, process, link, lines };
    },
    /** Advances the clock until the promise settles. */
    async until<T>(promise: Promise<T>): Promise<T> {
      let settled = false;
      const mark = (): void => {
        settled = true;
      };
      promise.then(mark, mark);
      for (let step = 0; !settled && step < 5_000; step++) await clock.advance(clock.nextDueInMs ?? 10);
      return await promise;
    },
  };
}

function recorder(lines: { level: string; message: string; fields: Fields }[]): Log {
  const at =
    (level: string) =>
    (message: string, fields: Fields = {}) =>
      void lines.push({ level, message, fields });
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: () => recorder(lines),
  };
}

function refusal(leadership: Leadership): BowlineError | undefined {
  try {
    leadership.guard.assertMayWrite();
    return undefined;
  } catch (error) {
    return error as BowlineError;
  }
}

describe('LeaderElector', () => {
  it('creates the Lease with the fields that kubectl and client-go use', async () => {
    const { api, candidate, until } = world();
    const { elector } = candidate('a');
    await using leadership = await until(elector.acquire());
    expect(elector.isLeader).toBe(true);
    expect(elector.holder()).toBe('a');
    expect(leadership.guard.writeTimeoutMs).toBe(5_000);
    expect(api.lease).toMatchObject({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: key,
      spec: { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 },
    });
    for (const field of ['acquireTime', 'renewTime'] as const) {
      expect(api.lease?.spec?.[field]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    }
    await until(leadership.release());
  });

  it('renews every retry period and keeps acquireTime, leaseTransitions and metadata set by other clients', async () => {
    const { api, clock, candidate, until } = world();
    const { elector } = candidate('a');
    const leadership = await until(elector.acquire());
    const acquired = api.lease?.spec;
    api.edit((lease) => ({ ...lease, metadata: { ...lease.metadata, labels: { team: 'x' } } }));
    await clock.advance(60_000);
    expect(leadership.lost.aborted).toBe(false);
    expect(api.commits.filter((commit) => commit.by === 'a').length).toBeGreaterThanOrEqual(60 / 2.4 - 1);
    expect(api.lease?.metadata?.labels).toEqual({ team: 'x' });
    expect(api.lease?.spec).toMatchObject({ acquireTime: acquired?.acquireTime, leaseTransitions: 0 });
    expect(api.lease?.spec?.renewTime).not.toBe(acquired?.renewTime);
    await until(leadership.release());
  });

  it('takes over one lease duration after the last renewal it observed, regardless of clock skew between machines', async () => {
    const { api, clock, candidate, until } = world();
    const old = candidate('old', { wallOffsetMs: 365 * 86_400_000 });
    await until(old.elector.acquire());
    const young = candidate('young', { wallOffsetMs: -86_400_000 });
    const next = young.elector.acquire();
    await clock.advance(30_000);
    expect(young.elector.holder()).toBe('old');
    old.link.loss = 1;
    await until(next);
    const last = api.commits.filter((commit) => commit.by === 'old').at(-1);
    const took = api.commits.find((commit) => commit.by === 'young');
    expect(took?.transitions).toBe(1);
    const gap = (took?.at ?? 0) - (last?.at ?? 0);
    expect(gap).toBeGreaterThanOrEqual(15_000);
    expect(gap).toBeLessThan(15_000 + 2 * 2_400);
  });

  it('refuses writes after the deadline even if no timer has fired, and aborts the signal immediately', async () => {
    const { clock, candidate, until } = world();
    const { elector, process } = candidate('a');
    const leadership = await until(elector.acquire());
    process.freeze('paused');
    await clock.advance(9_900);
    expect(refusal(leadership)).toBeUndefined();
    await clock.advance(100);
    expect(leadership.lost.aborted).toBe(false);
    expect(refusal(leadership)?.code).toBe('BOWLINE_NOT_LEADER');
    expect(leadership.lost.aborted).toBe(true);
    expect((leadership.lost.reason as BowlineError).code).toBe('BOWLINE_LEADERSHIP_LOST');
    expect(elector.isLeader).toBe(false);
  });

  it('counts the deadline from when the renewal was sent, not from when its response arrived', async () => {
    const { api, clock, candidate, until } = world();
    const { elector, link } = candidate('a');
    const leadership = await until(elector.acquire());
    link.responseLatencyMs = 3_000;
    const before = api.commits.length;
    while (api.commits.length === before) await clock.advance(1);
    const stored = clock.monotonic();
    await clock.advance(3_001);
    link.loss = 1;
    await clock.advance(stored + 9_985 - clock.monotonic());
    expect(refusal(leadership)).toBeUndefined();
    await clock.advance(15);
    expect(leadership.lost.aborted).toBe(true);
  });

  it('ends leadership immediately when it observes another holder', async () => {
    const { api, clock, candidate, until } = world();
    const { elector, lines } = candidate('a');
    const leadership = await until(elector.acquire());
    api.edit((lease) => ({ ...lease, spec: { ...lease.spec, holderIdentity: 'thief' } }));
    await clock.advance(2_500);
    expect((leadership.lost.reason as BowlineError).message).toContain('thief holds it now');
    expect(elector.holder()).toBe('thief');
    expect(lines.filter((line) => line.level === 'error')).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('releases the Lease so that the next holder does not have to wait, and refuses further writes', async () => {
    const { api, clock, candidate, until } = world();
    const first = candidate('first');
    const second = candidate('second');
    const leadership = await until(first.elector.acquire());
    const next = second.elector.acquire();
    await clock.advance(5_000);
    const releasedAt = clock.monotonic();
    const releasing = leadership.release();
    expect(refusal(leadership)?.message).toContain('released');
    await until(releasing);
    expect(api.lease?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    expect(leadership.lost.aborted).toBe(false);
    const taken = await until(next);
    expect(clock.monotonic() - releasedAt).toBeLessThan(3_000);
    await until(taken.release());
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not change the Lease on release when another process holds it', async () => {
    const { api, candidate, until } = world();
    const { elector } = candidate('a');
    const leadership = await until(elector.acquire());
    api.edit((lease) => ({ ...lease, spec: { ...lease.spec, holderIdentity: 'other' } }));
    await until(leadership.release());
    expect(api.lease?.spec?.holderIdentity).toBe('other');
  });

  it('recreates the Lease when it is deleted', async () => {
    const { api, clock, candidate, until } = world();
    const { elector } = candidate('a');
    const leadership = await until(elector.acquire());
    api.lease = undefined;
    await clock.advance(5_000);
    expect(api.lease).toMatchObject({ spec: { holderIdentity: 'a' } });
    expect(refusal(leadership)).toBeUndefined();
    await until(leadership.release());
  });

  it('respects the last holder of a deleted Lease until that Lease would have expired', async () => {
    const { api, clock, candidate, until } = world();
    const old = candidate('old');
    await until(old.elector.acquire());
    const young = candidate('young');
    const next = young.elector.acquire();
    await clock.advance(3_000);
    old.process.freeze('paused');
    api.lease = undefined;
    const deletedAt = clock.monotonic();
    await until(next);
    expect(clock.monotonic() - deletedAt).toBeGreaterThanOrEqual(12_000);
  });

  it('recognises its own claim when only the response was lost', async () => {
    const { api, clock, candidate, until } = world();
    const { elector, link } = candidate('a');
    const acquiring = elector.acquire();
    api.onStore = () => {
      link.loseResponses = true;
    };
    while (!api.lease) await clock.advance(1);
    await clock.advance(100);
    expect(elector.isLeader).toBe(false);
    api.onStore = () => {};
    link.loseResponses = false;
    const leadership = await until(acquiring);
    expect(clock.monotonic()).toBeLessThan(15_000);
    await until(leadership.release());
  });

  it('does not take over from a process that has the same identity', async () => {
    const { clock, candidate, until } = world();
    await until(candidate('twin').elector.acquire());
    const second = candidate('twin');
    const acquiring = second.elector.acquire(AbortSignal.any([]));
    acquiring.catch(() => {});
    await clock.advance(60_000);
    expect(second.elector.isLeader).toBe(false);
  });

  it('releases the Lease when the caller aborted while the claim was in flight', async () => {
    const { api, clock, candidate, until } = world();
    const { elector } = candidate('a');
    const stop = new AbortController();
    const acquiring = elector.acquire(stop.signal);
    while (!api.lease) await clock.advance(1);
    stop.abort(new Error('enough'));
    await expect(until(acquiring)).rejects.toThrow('enough');
    expect(api.lease.spec?.holderIdentity).toBe('');
    expect(clock.pendingTimers).toBe(0);
  });

  it('rejects a second acquire while it waits for or holds the Lease', async () => {
    const { candidate, until } = world();
    const { elector } = candidate('a');
    const first = elector.acquire();
    await expect(elector.acquire()).rejects.toMatchObject({ code: 'BOWLINE_LEASE_BUSY' });
    const leadership = await until(first);
    await expect(elector.acquire()).rejects.toMatchObject({ code: 'BOWLINE_LEASE_BUSY' });
    await until(leadership.release());
    await using again = await until(elector.acquire());
    await until(again.release());
  });

  it.each([
    [{ verb: 'get', status: 403 }, 'BOWLINE_LEASE_FORBIDDEN', 'grant get, create and update on leases'],
    [{ verb: 'create', status: 404 }, 'BOWLINE_LEASE_NAMESPACE_MISSING', 'namespace bowline-system does not exist'],
    [{ verb: 'get', status: 503 }, 'BOWLINE_LEASE_UNAVAILABLE', 'retrying'],
  ] as const)('reports a problem once and keeps retrying: %o', async (refuse, code, text) => {
    const { api, clock, candidate, until } = world();
    const { elector, lines } = candidate('a');
    api.refuse = refuse;
    const acquiring = elector.acquire();
    await clock.advance(60_000);
    expect(elector.problem()?.code).toBe(code);
    expect(elector.problem()?.message).toContain(text);
    expect(lines.filter((line) => line.level === 'warn')).toHaveLength(1);
    api.refuse = undefined;
    await using leadership = await until(acquiring);
    expect(elector.problem()).toBeUndefined();
    expect(lines.at(-1)?.message).toBe('became leader');
    await until(leadership.release());
  });

  it('refuses a write that a slow event loop might send too late', async () => {
    const { clock, candidate, until } = world();
    let lag = 0;
    const { elector, link } = candidate('a', { lag: { lagMs: () => lag } });
    const leadership = await until(elector.acquire());
    await clock.advance(10);
    lag = 9_000;
    link.loss = 1;
    expect(refusal(leadership)).toBeUndefined();
    await clock.advance(2_000);
    expect(refusal(leadership)?.message).toContain('event loop');
    expect(leadership.lost.aborted).toBe(false);
    lag = 0;
    expect(refusal(leadership)).toBeUndefined();
  });

  it('requires a renewal before the next write when the wall clock indicates that the machine was suspended', async () => {
    const { api, clock, candidate, until } = world();
    const { elector, process } = candidate('a');
    const leadership = await until(elector.acquire());
    process.wallOffsetMs += 3_600_000;
    const before = api.commits.length;
    // However many writes trigger it, only one early renewal happens, well before the next regular one.
    for (let n = 0; n < 100; n++) expect(refusal(leadership)?.message).toContain('wall clock');
    await clock.advance(600);
    expect(api.commits.length).toBe(before + 1);
    expect(refusal(leadership)).toBeUndefined();
    expect(leadership.lost.aborted).toBe(false);
    await until(leadership.release());
  });

  it('does not cause a renewal storm while the event loop lag exceeds the deadline', async () => {
    const { api, clock, candidate, until } = world();
    const { elector } = candidate('a', { lag: { lagMs: () => 60_000 } });
    const leadership = await until(elector.acquire());
    const before = api.commits.length;
    for (let n = 0; n < 1_000; n++) {
      expect(refusal(leadership)?.retryable).toBe(true);
      await clock.advance(10);
    }
    expect(api.commits.length - before).toBeLessThanOrEqual(20);
    expect(leadership.lost.aborted).toBe(false);
    await until(leadership.release());
  });

  it('exposes metrics for the leader and for renewals that needed another read', async () => {
    const { api, clock, candidate, until } = world();
    const metrics = createMetrics({ process: false });
    const { elector } = candidate('a', { metrics });
    expect(await metrics.render()).toContain('leader_election_master_status{name="bowline-demo"} 0');
    expect(await metrics.render()).toContain('leader_election_slowpath_total{name="bowline-demo"} 0');
    const leadership = await until(elector.acquire());
    api.edit((lease) => ({ ...lease, metadata: { ...lease.metadata, labels: { a: 'b' } } }));
    await clock.advance(5_000);
    expect(await metrics.render()).toContain('leader_election_master_status{name="bowline-demo"} 1');
    expect(await metrics.render()).toContain('leader_election_slowpath_total{name="bowline-demo"} 1');
    await until(leadership.release());
    expect(await metrics.render()).toContain('leader_election_master_status{name="bowline-demo"} 0');
  });
});
