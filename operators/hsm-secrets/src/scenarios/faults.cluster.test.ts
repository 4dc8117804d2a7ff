import type { KubernetesObject, Pod, Resource } from '@bowline/kubernetes';
import { type Client, TransportError } from '@bowline/runtime/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { wrapClient } from '../../../../test/support/wrap-client.ts';
import { devicesIn, type HsmCluster, hsmCluster, podsIn } from '../testing/hsm-cluster.test-support.ts';

const GRACE_MS = 300_000;

/** Outage sits between the operator and its client. While it lasts, all requests fail but those for Leases. */
class Outage {
  #cut = new AbortController();
  #isDown = false;
  /** How many requests were refused. */
  refused = 0;

  /** cutWatches ends all watches in progress. */
  cutWatches(): void {
    this.#cut.abort();
    this.#cut = new AbortController();
  }

  begin(): void {
    this.#isDown = true;
    this.cutWatches();
  }

  end(): void {
    this.#isDown = false;
  }

  /** through returns the client that the operator gets. */
  through(client: Client): Client {
    const checked = client.checked(({ resource }) => {
      if (!this.#isDown || resource?.kind === 'Lease') return;
      this.refused += 1;
      throw new TransportError('BOWLINE_TRANSPORT_UNREACHABLE', 'the connection was cut by the test');
    });
    return wrapClient(checked, (wrapped) => ({ watch: (kind, options) => this.#watch(wrapped, kind, options) }));
  }

  #watch<T extends KubernetesObject>(
    client: Client,
    kind: Resource<T>,
    options: Parameters<Client['watch']>[1] = {},
  ): ReturnType<typeof client.watch<T>> {
    const signals = [this.#cut.signal, ...(options.signal ? [options.signal] : [])];
    return client.watch(kind, { ...options, signal: AbortSignal.any(signals) });
  }
}

const outage = new Outage();
let c: HsmCluster;
let pod: Pod;
let name: string;
let node: string;

beforeAll(async () => {
  c = await hsmCluster({ nodes: 1, wrapClient: (client) => outage.through(client) });
  await c.createDevice('pico');
  [node = ''] = c.nodes;
  pod = await c.discoveryPod('pico', node);
  name = pod.metadata?.name ?? '';
  await c.report(pod, ['1']);
  await c.untilPool('pico', ({ phase }) => phase === 'Ready');
  await c.idle();
});
afterAll(() => c[Symbol.asyncDispose]());

/** Waits until the operator watches pods again: it follows a change of a report. */
async function untilConnected(): Promise<void> {
  await c.report(pod, ['1', '2']);
  await c.untilPool('pico', ({ availableDevices }) => availableDevices === 2);
  await c.report(pod, ['1']);
  // Each device that is gone is listed for another grace period.
  await c.untilPool('pico', ({ availableDevices }) => availableDevices === 1);
  await c.idle();
  await c.advanceTime(GRACE_MS / 2);
  await c.report(pod, ['1']);
  await c.idle();
  await c.advanceTime(GRACE_MS / 2 + 1);
  await c.report(pod, ['1']);
  await c.idle();
  expect(devicesIn(await c.pool('pico'))).toEqual([['1', node, true, 'Healthy']]);
}

it('scenario 22 watches that are cut drop nothing, and the pool follows the reports of that time', async () => {
  outage.cutWatches();
  await c.report(pod, ['1', '2']);
  await c.untilPool('pico', ({ availableDevices }) => availableDevices === 2);
  outage.cutWatches();
  await untilConnected();
  expect(await c.eventsOf('pico-pool')).not.toContain('ReportStale');
});

it('scenario 22 an API server that cannot be reached for longer than the grace period drops nothing', async () => {
  const before = await c.pool('pico');
  outage.begin();
  for (let elapsed = 0; elapsed < 2 * GRACE_MS; elapsed += 60_000) {
    await c.advanceTime(60_000, 10_000);
    await c.report(pod, ['1']);
  }
  outage.end();
  expect(outage.refused).toBeGreaterThan(0);
  await c.advanceTime(60_000, 10_000);
  const after = await c.pool('pico');
  expect(after.metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
  await untilConnected();
  expect(await c.eventsOf('pico-pool')).not.toContain('ReportStale');
});

it('scenario 22 a pod that was silent meanwhile has two heartbeats after the API server is back', async () => {
  const before = await c.pool('pico');
  outage.begin();
  await c.advanceTime(2 * GRACE_MS, 10_000);
  outage.end();
  await c.advanceTime(30_000);
  expect((await c.pool('pico')).metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
  // The first successful read of the pods begins that time; the retry that makes it may be a few minutes away.
  await c.advanceTime(4 * GRACE_MS, 10_000);
  const lost = await c.untilPool('pico', ({ availableDevices }) => availableDevices === 0);
  expect(podsIn(lost)).toEqual([[name, false]]);
  await c.report(pod, ['1']);
  await c.untilPool('pico', ({ availableDevices }) => availableDevices === 1);
});
