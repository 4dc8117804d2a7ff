import { ConfigMap, Namespace } from '@bowline/kubernetes';
import { ResourceQuota } from '@bowline/kubernetes/core-v1';
import { Event } from '@bowline/kubernetes/events-v1';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { MAX_CONTENT_BYTES } from '../content/content-size.ts';
import { type Scenario, type SpecChange, startScenario } from './scenario.test-support.ts';

let c: Scenario;
beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

it('reports the field of invalid input that bypassed the webhook', async () => {
  // No webhook is called for the manager's own namespace.
  await using trusting = await startScenario({ config: { 'configmap-sync': { trustAllAuthors: true } } });
  const key = { namespace: trusting.managerNamespace, name: 'past' };
  const spec = {
    sourceNamespace: trusting.namespace,
    configMapName: 'past',
    destinationNamespace: trusting.target,
    transforms: [{ template: { key: 'a', template: '{{ data. }}' } }],
  };
  await trusting.source('past');
  await trusting.admin.create(ConfigMapSync, ConfigMapSync.withDefaults({ metadata: key, spec }));
  const sync = await trusting.until(
    ConfigMapSync,
    key,
    (each) => findCondition(each, 'Ready')?.reason === 'InvalidSpec',
  );
  expect(findCondition(sync, 'Ready')?.message).toContain('spec.transforms[0].template.template: ');
  expect(findCondition(sync, 'Stalled')?.status).toBe('True');
  expect(await trusting.admin.find(ConfigMap, trusting.to('past'))).toBeUndefined();
});

describe('reports an obstacle with a condition and one event, and does not retry in a tight loop', () => {
  const HOUR_MS = 3_600_000;

  /** An obstacle to a ConfigMapSync; it is created before the ConfigMapSync. */
  interface Obstacle {
    readonly name: string;
    readonly arrange: () => Promise<SpecChange>;
    readonly reason: string;
    readonly event: string;
    readonly message: string;
    /** The number of runs in an hour: according to the spec's interval, or to the backoff. */
    readonly reads: readonly [least: number, most: number];
    /** Makes it ready. */
    readonly remedy: () => Promise<unknown>;
  }
  const later = { missing: '', terminating: '', full: '' };
  const held = () => ({ namespace: later.terminating, name: 'held' });
  const finalizers = (value: readonly string[] | null) =>
    c.admin.patch(ConfigMap, held(), { type: 'merge', body: { metadata: { finalizers: value } } });

  const obstacles: readonly Obstacle[] = [
    {
      name: 'no-source',
      arrange: async () => {
        await c.admin.delete(ConfigMap, c.from('no-source'));
        return {};
      },
      reason: 'SourceNotFound',
      event: 'SourceMissing',
      message: 'does not exist; create it',
      reads: [11, 13],
      remedy: () => c.source('no-source'),
    },
    {
      name: 'no-namespace',
      arrange: () => {
        later.missing = c.uniqueName('scenario-later');
        return Promise.resolve({ destinationNamespace: later.missing });
      },
      reason: 'NamespaceMissing',
      event: 'NamespaceMissing',
      message: 'the namespace does not exist; create it, or remove the destination from the spec',
      reads: [5, 7],
      remedy: () => c.admin.create(Namespace, { metadata: { name: later.missing } }),
    },
    {
      name: 'terminating',
      arrange: async () => {
        later.terminating = await c.createNamespace();
        await c.admin.create(ConfigMap, { metadata: { ...held(), finalizers: ['test.bowline.dev/held'] } });
        c.onDispose(() => finalizers(null).catch(() => undefined));
        await c.admin.delete(Namespace, { name: later.terminating });
        return { destinationNamespace: later.terminating };
      },
      reason: 'NamespaceTerminating',
      event: 'NamespaceMissing',
      message: 'the namespace is being deleted',
      reads: [5, 7],
      remedy: async () => {
        await finalizers(null);
        // The real namespace controller tries again after increasing pauses.
        await c.untilGone(Namespace, { name: later.terminating }, { timeoutMs: 90_000 });
        await c.admin.create(Namespace, { metadata: { name: later.terminating } });
      },
    },
    {
      name: 'forbidden',
      arrange: async () => {
        later.full = await c.createNamespace();
        const metadata = { namespace: later.full, name: 'full' };
        await c.admin.create(ResourceQuota, { metadata, spec: { hard: { 'count/configmaps': '0' } } });
        await c.until(ResourceQuota, metadata, ({ status }) => status?.hard?.['count/configmaps'] === '0');
        return { destinationNamespace: later.full };
      },
      reason: 'SyncFailed',
      event: 'SyncFailed',
      message: 'exceeded quota',
      reads: [6, 14],
      remedy: async () => {
        await c.admin.delete(ResourceQuota, { namespace: later.full, name: 'full' });
        while (await c.admin.find(ResourceQuota, { namespace: later.full, name: 'full' }));
        await c.advanceTime(600_000, 60_000);
      },
    },
    {
      name: 'immutable',
      arrange: async () => {
        await c.admin.create(ConfigMap, { metadata: c.to('immutable'), data: { color: 'old' }, immutable: true });
        return {};
      },
      reason: 'DestinationImmutable',
      event: 'SyncFailed',
      message:
        'the ConfigMap is immutable and was not created by this ConfigMapSync; delete it, or choose another name',
      reads: [5, 7],
      remedy: () => c.admin.delete(ConfigMap, c.to('immutable')),
    },
    {
      name: 'too-large',
      arrange: async () => {
        await c.edit(c.from('too-large'), { color: 'x'.repeat(MAX_CONTENT_BYTES) });
        return { transforms: [{ set: { key: 'more', value: '1' } }] };
      },
      reason: 'SyncFailed',
      event: 'SyncFailed',
      message: 'exclude keys, or shorten values',
      reads: [5, 7],
      remedy: () => c.edit(c.from('too-large'), { color: 'red' }),
    },
  ];
  const readsOf = (name: string, from: number) =>
    c.requests.slice(from).filter((request) => request === `get configmaps ${c.namespace}/${name}`).length;
  const versions = new Map<string, string | undefined>();
  let start = 0;

  beforeAll(async () => {
    for (const { name, arrange } of obstacles) {
      await c.source(name);
      await c.sync(name, await arrange());
    }
    for (const { name, reason, event } of obstacles) {
      const { metadata } = await c.untilReady(name, reason);
      await c.untilEvent(name, event);
      versions.set(name, metadata?.resourceVersion);
    }
    await c.idle();
    start = c.requests.length;
    await c.advanceTime(HOUR_MS, 30_000);
  });

  it.each(obstacles.map(({ name }) => name))('%s', async (name) => {
    const obstacle = obstacles.find((each) => each.name === name);
    if (!obstacle) throw new TypeError(name);
    const { reason, event, message, reads, remedy } = obstacle;
    const sync = await c.admin.get(ConfigMapSync, c.from(name));
    expect(findCondition(sync, 'Ready')).toMatchObject({ status: 'False', reason });
    expect(findCondition(sync, 'Ready')?.message).toContain(message);
    const [min, max] = reads;
    expect(readsOf(name, start)).toBeGreaterThanOrEqual(min);
    expect(readsOf(name, start)).toBeLessThanOrEqual(max);
    const { items } = await c.admin.list(Event, { namespace: c.namespace });
    const warnings = items.filter(({ regarding, type }) => regarding?.name === name && type === 'Warning');
    expect(warnings.map(({ reason, series }) => ({ reason, series }))).toEqual([{ reason: event, series: undefined }]);
    // A retried ConfigMapSync reports the number of retries; one that only waits has no status update.
    const isRetried = (sync.status?.retryCount ?? 0) > 0;
    expect(isRetried).toBe(name === 'forbidden');
    if (!isRetried) expect(sync.metadata?.resourceVersion).toBe(versions.get(name));

    await remedy();
    const healed = await c.untilReady(name);
    expect(healed.status?.retryCount).toBe(0);
    expect(healed.status?.syncStatus).toBe('Success');
  });
});
