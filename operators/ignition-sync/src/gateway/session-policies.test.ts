import { VirtualClock } from '@bowline/machinery';
import { silentLog } from '@bowline/runtime/manager';
import { describe, expect, it } from 'vitest';
import type { FaultChanges } from '../simulated-gateway/gateway-faults.ts';
import { type GatewayFolder, gatewayFolder } from '../simulated-gateway/gateway-folder.test-support.ts';
import { type DesignerPolicyOptions, type DesignerSessionsError, respectDesigners } from './designer-policy.ts';
import { GatewayClient } from './gateway-client.ts';
import { type PerspectivePolicyOptions, respectPerspective } from './perspective-policy.ts';

const signal = new AbortController().signal;
const ann = { id: 'd1', user: 'ann', project: 'overview' };
const bob = { id: 'd2', user: 'bob', project: 'line-1' };

interface Rig extends AsyncDisposable {
  readonly gateway: GatewayFolder['gateway'];
  readonly clock: VirtualClock;
  readonly waiting: number[];
  designers(options?: Partial<DesignerPolicyOptions>): ReturnType<typeof respectDesigners>;
  perspective(options: Partial<PerspectivePolicyOptions>): ReturnType<typeof respectPerspective>;
}

async function rig(faults: FaultChanges): Promise<Rig> {
  const folder = await gatewayFolder({ tls: false });
  const { gateway, apiKeyFile } = folder;
  await gateway.start();
  await gateway.change(faults);
  const clock = new VirtualClock();
  const waiting: number[] = [];
  const client = new GatewayClient({ port: gateway.port, tls: false, apiKeyFile, clock });
  const common = { gateway: client, clock, log: silentLog, timeoutMs: 25_000 };
  const affected = { projects: new Set(['overview']), hasSharedChanges: false };
  return {
    gateway,
    clock,
    waiting,
    designers: async (options = {}) => {
      const onWaiting = (sessions: number): void => void waiting.push(sessions);
      return await respectDesigners({ ...common, policy: 'wait', affected, onWaiting, ...options }, signal);
    },
    perspective: async (options) => await respectPerspective({ ...common, policy: 'graceful', ...options }, signal),
    [Symbol.asyncDispose]: async () => await folder[Symbol.asyncDispose](),
  };
}

/** Waits until the next check is due after exactly this time: sockets need real time. */
async function passed({ clock }: Rig, ms: number): Promise<void> {
  while (clock.nextDueInMs !== ms) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(ms);
}

describe('Designers', () => {
  it('in other projects do not block a sync', async () => {
    await using r = await rig({ designers: [bob] });
    expect(await r.designers({ policy: 'fail' })).toEqual([]);
  });

  it('in any project block a sync that changes tags or types', async () => {
    await using r = await rig({ designers: [bob] });
    const affected = { projects: new Set<string>(), hasSharedChanges: true };
    await expect(r.designers({ policy: 'fail', affected })).rejects.toThrow('bob in line-1');
  });

  it('in an unknown project block a sync', async () => {
    await using r = await rig({ designers: [{ id: 'd3', user: 'eve' }] });
    await expect(r.designers({ policy: 'fail' })).rejects.toThrow('eve in an unknown project');
  });

  it('are reported and do not block a sync that proceeds', async () => {
    await using r = await rig({ designers: [ann, bob] });
    expect(await r.designers({ policy: 'proceed' })).toEqual([ann]);
  });

  it('are waited for, with a check every 10 s', async () => {
    await using r = await rig({ designers: [ann, { ...ann, id: 'd4' }] });
    const done = r.designers();
    await passed(r, 10_000);
    while (r.clock.nextDueInMs !== 10_000) await new Promise((resolve) => setImmediate(resolve));
    await r.gateway.change({ designers: [bob] });
    await r.clock.advance(10_000);
    expect(await done).toEqual([]);
    expect(r.waiting).toEqual([2]);
  });

  it('block a sync after the timeout', async () => {
    await using r = await rig({ designers: Array.from({ length: 7 }, (_, id) => ({ ...ann, id: `d${id}` })) });
    const done = r.designers().catch((error: unknown) => error as DesignerSessionsError);
    for (const ms of [10_000, 10_000, 5_000]) await passed(r, ms);
    const error = await done;
    expect(error).toMatchObject({ code: 'BOWLINE_IGNITION_DESIGNER_SESSIONS', retryable: true });
    expect((error as DesignerSessionsError).sessions).toHaveLength(7);
    expect((error as DesignerSessionsError).message).toContain('cannot sync after 25 s with open Designers: ann in');
    expect((error as DesignerSessionsError).message).toContain('and 2 more; close the Designers');
    expect(r.waiting).toEqual([7]);
  });

  it.each([403, 404] as const)(
    'are unknown, and the sync continues, if the gateway responds with %s',
    async (status) => {
      await using r = await rig({ designers: [ann], responses: [{ status }] });
      expect(await r.designers({ policy: 'fail' })).toEqual([]);
    },
  );
});

describe('Perspective sessions', () => {
  const sessions = [{ id: 's1', user: 'ann' }];

  it('are not queried with the policy none', async () => {
    await using r = await rig({ sessions, refuseConnections: true });
    expect(await r.perspective({ policy: 'none' })).toBeUndefined();
    expect(r.clock.pendingTimers).toBe(0);
  });

  it('are only counted with the policy immediate', async () => {
    await using r = await rig({ sessions });
    expect(await r.perspective({ policy: 'immediate' })).toBe(1);
  });

  it('are waited for until none is open', async () => {
    await using r = await rig({ sessions });
    const done = r.perspective({});
    while (r.clock.nextDueInMs !== 10_000) await new Promise((resolve) => setImmediate(resolve));
    await r.gateway.change({ sessions: [] });
    await r.clock.advance(10_000);
    expect(await done).toBe(0);
  });

  it('do not block a sync after the timeout', async () => {
    await using r = await rig({ sessions });
    const done = r.perspective({});
    for (const ms of [10_000, 10_000, 5_000]) await passed(r, ms);
    expect(await done).toBe(1);
  });

  it('are unknown, and the sync continues, if the gateway does not list them', async () => {
    await using r = await rig({ sessions, responses: [{ status: 404 }] });
    expect(await r.perspective({})).toBeUndefined();
  });
});
