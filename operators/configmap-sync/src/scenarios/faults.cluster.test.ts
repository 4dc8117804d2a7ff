import { sharedControlPlane } from '@bowline/control-plane/testing';
import { ConfigMap } from '@bowline/kubernetes';
import { type Client, connect, connectionFrom, createClient, parseKubeconfig } from '@bowline/runtime/client';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { acceleratedClock } from '../../../../test/support/fault-proxy/accelerated-clock.ts';
import type { Endpoint } from '../../../../test/support/fault-proxy/endpoint.ts';
import { FaultProxy } from '../../../../test/support/fault-proxy/fault-proxy.ts';
import { MANAGED_BY, MANAGER } from '../api/names.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

/** A minute passes in three seconds. */
const SPEED = 20;
const wire = acceleratedClock(SPEED);
/** In real time: a PING every 200 ms that may take 750. */
const limits = { pingIntervalMs: 200 * SPEED, pingTimeoutMs: 750 * SPEED, connectTimeoutMs: 2_000 * SPEED };
const DEAD_AFTER_MS = 60_000;

let proxy: FaultProxy;
let endpoint: Endpoint;
let client: Client;
let c: Scenario;

beforeAll(async () => {
  const direct = await sharedControlPlane();
  const kubeconfig = await parseKubeconfig(JSON.stringify(await direct.kubeconfig('admin')), 'admin');
  proxy = await FaultProxy.start({ upstream: connectionFrom(kubeconfig), wire });
  endpoint = await proxy.endpoint('operator');
  const connection = await proxy.connection('operator');
  let authorization = '';
  c = await startScenario({
    // Only the operator uses the proxy; its token is captured where it is issued.
    controlPlane: {
      kind: direct.kind,
      url: direct.url,
      version: direct.version,
      audit: (since) => direct.audit(since),
      kubeconfig: async (identity) => {
        const document = await direct.kubeconfig(identity);
        const [{ user }] = document.users;
        if ('token' in user) authorization = `Bearer ${user.token}`;
        return document;
      },
    },
    wrapClient: () => {
      const credentials = { headers: () => ({ authorization }), refresh: () => Promise.resolve(false) };
      const transport = connect({ ...connection, credentials }, { wire, timeoutMs: 3_000 * SPEED, ...limits });
      client = createClient({ transport, clock: wire, wire });
      return client;
    },
    clock: wire,
    wire,
    // The Lease would be lost, and the process would end; this test is about how watches recover.
    leaderElection: false,
    deadWatchAfterMs: DEAD_AFTER_MS,
    healthAddress: '127.0.0.1:0',
  });
});
afterAll(async () => {
  await c[Symbol.asyncDispose]();
  await client.close();
  await proxy.close();
});

/**
 * watchLiveness returns the liveness result for watches. The result for the event loop is ignored here: on such a fast
 * clock, a timer that fires a few milliseconds late appears late by a whole tick.
 */
async function watchLiveness(): Promise<string | undefined> {
  const response = await fetch(`http://127.0.0.1:${c.manager.ports.health}/livez?verbose`);
  const text = await response.text();
  if (text.includes('[-]watches')) expect(response.status).toBe(503);
  return text.split('\n').find((line) => line.includes(']watches '));
}

const ALIVE = '[+]watches ok';

const untilWatches = (state: RegExp | string) => expect.poll(watchLiveness).toMatch(state);

/** Only events can cause anything. */
const events = { syncInterval: '0s' };

/** changeEverything changes everything that a ConfigMapSync depends on while it cannot observe it. */
async function changeEverything(name: string): Promise<void> {
  await c.edit(c.from(name), { color: 'blue' });
  await c.admin.delete(ConfigMap, c.to(`${name}-2`));
  await c.edit(c.to(`${name}-3`), { color: 'drifted' });
}

async function prepare(name: string): Promise<void> {
  await c.source(name);
  const destinations = [name, `${name}-2`, `${name}-3`].map((each) => ({ namespace: c.target, name: each }));
  // On this clock, the ten seconds that the API server gives a review are half a second: too few on a busy machine.
  const created = () => c.sync(name, { ...events, destinations });
  await vi.waitFor(created, { timeout: 20_000, interval: 50 });
  await c.untilReady(name);
  await c.idle();
}

async function untilCaughtUp(name: string): Promise<void> {
  for (const each of [name, `${name}-2`, `${name}-3`]) {
    const copy = await c.until(ConfigMap, c.to(each), ({ data }) => data?.color === 'blue');
    expect(copy.data).toEqual({ color: 'blue' });
  }
  await c.untilReady(name);
}

it.each<readonly [string, () => void | Promise<void>, () => void | Promise<void>]>([
  ['refused', () => endpoint.down(), () => endpoint.up()],
  ['silent', () => endpoint.partition(), () => endpoint.heal()],
])(
  'scenario 12 fails liveness when connections are %s for a minute, and catches up afterwards',
  async (name, cut, repair) => {
    await prepare(name);
    await untilWatches(ALIVE);
    await cut();
    await changeEverything(name);
    await untilWatches(/failed: no activity of .*ConfigMap.* for \d{2,} s/);
    expect((await c.admin.get(ConfigMap, c.to(name))).data).toEqual({ color: 'red' });
    await repair();
    await untilCaughtUp(name);
    await untilWatches(ALIVE);
  },
);

it('scenario 12 catches up when watches are closed with 410', async () => {
  await prepare('expired');
  const back = new Set<string>();
  const expired = new Set<string>();
  proxy.schedule = ({ isWatch, path }) => {
    const { pathname, searchParams } = new URL(path, 'https://api');
    const watch = [pathname, searchParams.get('labelSelector')].filter(Boolean).join(' ');
    if (!isWatch) return undefined;
    back.add(watch);
    // A watch that resumes from its last version gets one error that the version is too old; one that starts again,
    // because it was disconnected for too long, does not.
    if (expired.has(watch) || searchParams.has('sendInitialEvents')) return undefined;
    expired.add(watch);
    return { kind: 'watch-error', code: 410 };
  };
  await endpoint.down();
  await changeEverything('expired');
  await endpoint.up();
  await untilCaughtUp('expired');
  const every = [
    `/api/v1/configmaps ${MANAGED_BY}!=${MANAGER}`,
    `/api/v1/configmaps ${MANAGED_BY}=${MANAGER}`,
    '/api/v1/namespaces',
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    '/apis/sync.bowline.dev/v1/configmapsyncs',
  ];
  await expect.poll(() => every.filter((watch) => !back.has(watch))).toEqual([]);
  expect(expired.size).toBeGreaterThan(0);
  await untilWatches(ALIVE);
});
