import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, Lease, type PolicyRule } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { LeaderElector, type LeaderElectorOptions } from './leader-elector.ts';

const timing = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 200 };
const rights: PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];

describe('LeaderElector on an API server', () => {
  it('acquires, renews and releases with its declared permissions, and lets the next candidate take over', async () => {
    await using c = await cluster({ prefix: 'lease' });
    const account = await c.serviceAccount({ rules: rights });
    const lease = { namespace: c.namespace, name: 'bowline-demo' };
    const elector = (identity: string): LeaderElector =>
      new LeaderElector({ client: account.client.onLeaseLane(), lease, identity, ...timing });
    const first = elector('first');
    const second = elector('second');

    const leadership = await first.acquire();
    const acquired = await c.until(Lease, lease, (found) => found.spec?.holderIdentity === 'first');
    expect(acquired.spec).toMatchObject({ leaseDurationSeconds: 3, leaseTransitions: 0 });
    const waiting = second.acquire();
    await c.until(Lease, lease, ({ spec }) => spec?.renewTime !== acquired.spec?.renewTime);
    expect(second.isLeader).toBe(false);

    const guarded = c.admin.guarded(leadership.guard);
    await guarded.create(ConfigMap, { metadata: { namespace: c.namespace, name: 'before' } });
    await leadership.release();
    await expect(
      guarded.create(ConfigMap, { metadata: { namespace: c.namespace, name: 'after' } }),
    ).rejects.toMatchObject({ code: 'BOWLINE_NOT_LEADER' });

    await using next = await waiting;
    expect(next.lost.aborted).toBe(false);
    const taken = await c.until(Lease, lease, (found) => found.spec?.holderIdentity === 'second');
    expect(taken.spec?.leaseTransitions).toBe(1);
  });

  it('detects at its next renewal that another client took the Lease', async () => {
    await using c = await cluster({ prefix: 'lease' });
    const lease = { namespace: c.namespace, name: 'bowline-demo' };
    const elector = new LeaderElector({ client: c.admin.onLeaseLane(), lease, identity: 'me', ...timing });
    await using leadership = await elector.acquire();
    const lost = new Promise((resolve) => leadership.lost.addEventListener('abort', resolve, { once: true }));
    const body = { spec: { holderIdentity: 'thief' } };
    await c.admin.patch(Lease, lease, { type: 'merge', body });
    await lost;
    expect(leadership.lost.reason).toMatchObject({ code: 'BOWLINE_LEADERSHIP_LOST' });
    expect(elector.holder()).toBe('thief');
  });

  it.each([
    ['a missing permission', 'BOWLINE_LEASE_FORBIDDEN', [{ ...rights[0], verbs: ['get'] }], undefined],
    ['a missing namespace', 'BOWLINE_LEASE_NAMESPACE_MISSING', undefined, 'no-such-namespace'],
  ] as const)('reports %s and keeps retrying', async (_, code, rules, namespace) => {
    await using c = await cluster({ prefix: 'lease' });
    const client = rules ? (await c.serviceAccount({ rules: rules })).client : c.admin;
    const stop = new AbortController();
    const reported: unknown[] = [];
    const log: LeaderElectorOptions['log'] = {
      debug() {},
      info() {},
      warn: (_message, fields) => {
        reported.push(fields?.error);
        stop.abort(new Error('heard'));
      },
      error() {},
      with: () => log as never,
    };
    const lease = { namespace: namespace ?? c.namespace, name: 'bowline-demo' };
    const elector = new LeaderElector({ client: client.onLeaseLane(), lease, identity: 'me', log, ...timing });
    await expect(elector.acquire(stop.signal)).rejects.toThrow('heard');
    expect(reported).toEqual([expect.objectContaining({ code })]);
  });
});
