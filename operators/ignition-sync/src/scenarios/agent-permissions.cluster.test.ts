import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, Pod, type PolicyRule, Role, Secret } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { systemClock, systemRandom } from '@bowline/machinery';
import { Cache } from '@bowline/runtime/cache';
import { type Client, isForbidden } from '@bowline/runtime/client';
import { createMetrics, silentLog } from '@bowline/runtime/manager';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { permissionsIn, without } from '../../../../test/proofs/rbac/permissions.ts';
import { Refusals } from '../../../../test/proofs/rbac/refusals.ts';
import { AgentEvents } from '../agent/cluster/agent-events.ts';
import { watchMetadata } from '../agent/cluster/metadata-source.ts';
import { StatusReporter } from '../agent/cluster/status-reporter.ts';
import { agentRules } from '../agent-access/agent-role.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { objectNames } from '../api/names.ts';
import { minimal } from '../api/specs.test-support.ts';
import { metadataOf } from '../protocol/metadata.test-support.ts';
import { encodeMetadata } from '../protocol/metadata.ts';

const CR = 'plant';
const names = objectNames(CR);
const COMMITS = ['a'.repeat(40), 'b'.repeat(40)] as const;

let c: Cluster;
beforeAll(async () => {
  c = await cluster({ prefix: 'agent-permissions' });
  const data = encodeMetadata(metadataOf({}, { commit: COMMITS[0] }));
  await c.admin.create(ConfigMap, { metadata: key(names.metadata), data });
  for (const name of [names.status, names.changes]) await c.admin.create(ConfigMap, { metadata: key(name) });
});
afterAll(() => c[Symbol.asyncDispose]());

const key = (name: string) => ({ namespace: c.namespace, name });

const manifest: Role & { readonly kind: 'Role' } = { kind: 'Role', metadata: { name: 'agent' }, rules: agentRules(CR) };
const permissions = permissionsIn([manifest]);

/** rulesWithout returns the rules of agents without one permission. */
function rulesWithout(index: number): readonly PolicyRule[] {
  const permission = permissions[index];
  if (!permission) throw new RangeError(`there is no permission ${index}`);
  const [left] = without([manifest], permission);
  return left && 'rules' in left ? (left.rules ?? []) : [];
}

/** Exchange is what an agent has done with the controller. */
interface Exchange {
  readonly refused: readonly string[];
  /** The parts of the protocol that have not happened. */
  readonly missing: readonly string[];
}

/**
 * exchange runs the parts of the agent that use the cluster: it follows the metadata ConfigMap, reports, sends an event twice, and
 * sends changes. It ends when all of this has happened, or something was refused.
 */
async function exchange(rules: readonly PolicyRule[], gateway: string): Promise<Exchange> {
  const { client: own, name: account } = await c.serviceAccount({ rules });
  const stop = new AbortController();
  const refusals = new Refusals(() => undefined);
  // As on servers without streaming lists: a cache lists before it watches, so that both permissions are used.
  const client = withoutStreaming(refusals.watch(own));
  const clock = systemClock;
  const shared = { client, namespace: c.namespace, cr: CR, clock, random: systemRandom, log: silentLog };
  const cache = new Cache(shared);
  const metadata = watchMetadata(cache, shared, () => undefined);
  const reporter = new StatusReporter(shared);
  const events = new AgentEvents({ ...shared, podName: gateway, metrics: createMetrics() });
  events.isAbout(`uid-${account}`);
  const running = [cache.run(stop.signal), reporter.run(stop.signal), events.run(stop.signal)];
  const commit = (): string | undefined => {
    const observed = metadata.observe();
    return observed.kind === 'valid' ? observed.metadata.commit : undefined;
  };
  const wasSent = async (times: number): Promise<boolean> => {
    const { items } = await c.admin.list(Event, { namespace: c.namespace });
    return items.some(({ regarding, series }) => regarding?.uid === `uid-${account}` && (series?.count ?? 1) === times);
  };
  const parts: readonly [string, () => Promise<unknown>, () => boolean | Promise<boolean>][] = [
    ['the first commit', () => publish(COMMITS[0]), () => commit() === COMMITS[0]],
    ['the second commit', () => publish(COMMITS[1]), () => commit() === COMMITS[1]],
    [
      'a report',
      async () => {
        reporter.reportAs(gateway);
        reporter.update({ syncStatus: 'Synced' });
      },
      async () => (await c.admin.get(ConfigMap, key(names.status))).data?.[gateway] !== undefined,
    ],
    ['an event', async () => events.record('SyncSkipped', 'the same'), () => wasSent(1)],
    ['the same event', async () => events.record('SyncSkipped', 'the same'), () => wasSent(2)],
    [
      'changes',
      () => sendChanges(client, gateway),
      async () => (await c.admin.get(ConfigMap, key(names.changes))).data?.[gateway] !== undefined,
    ],
  ];
  const missing: string[] = [];
  try {
    for (const [name, act, isDone] of parts) {
      await act();
      const isOver = async (): Promise<boolean> => (await isDone()) || refusals.seen.length > 0;
      await expect.poll(isOver).toBe(true);
      if (!(await isDone())) missing.push(name);
    }
  } finally {
    stop.abort();
    await Promise.allSettled(running);
  }
  return { refused: refusals.seen, missing };
}

async function publish(commit: string): Promise<void> {
  const body = { data: { commit } };
  await c.admin.patch(ConfigMap, key(names.metadata), { type: 'merge', body });
}

/** sendChanges reads whether another gateway sends changes, and sends some, as ChangeSender does. */
async function sendChanges(client: Client, gateway: string): Promise<void> {
  try {
    await client.get(ConfigMap, key(names.changes));
    await client.patch(ConfigMap, key(names.changes), { type: 'merge', body: { data: { [gateway]: '{}' } } });
  } catch (error) {
    if (!isForbidden(error)) throw error;
  }
}

/** withoutStreaming returns a client whose streamed lists the API server refuses, as servers without WatchList do. */
function withoutStreaming(client: Client): Client {
  const watch: Client['watch'] = (kind, options) =>
    client.watch(kind, { ...options, ...(options?.sendInitialEvents ? { resourceVersionMatch: undefined } : {}) });
  return new Proxy(client, { get: (target, name) => (name === 'watch' ? watch : Reflect.get(target, name, target)) });
}

it('lets agents follow what they are told, report, and send events and changes', async () => {
  expect(await exchange(agentRules(CR), 'all')).toEqual({ refused: [], missing: [] });
});

it('grants agents no permission that they can do without', async () => {
  const results: Record<string, Exchange> = {};
  // Listing reads every object that `get` does.
  const needed = [...permissions.entries()].filter(([, { isCovered }]) => !isCovered);
  for (const [index, { text }] of needed) results[text] = await exchange(rulesWithout(index), `without-${index}`);
  expect(Object.keys(results)).toEqual([
    `list configmaps ${names.metadata} (Role)`,
    `watch configmaps ${names.metadata} (Role)`,
    `get configmaps ${names.status} (Role)`,
    `get configmaps ${names.changes} (Role)`,
    `patch configmaps ${names.status} (Role)`,
    `patch configmaps ${names.changes} (Role)`,
    'create events.events.k8s.io (Role)',
    'patch events.events.k8s.io (Role)',
  ]);
  for (const { refused, missing } of Object.values(results)) {
    expect(refused).toHaveLength(1);
    expect(missing).not.toEqual([]);
  }
}, 120_000);

it('grants agents nothing else: no Secrets, pods, IgnitionSyncs, or ConfigMaps of others', async () => {
  const { client } = await c.serviceAccount({ rules: agentRules(CR) });
  const metadata = key('others');
  const refused: readonly [string, () => Promise<unknown>][] = [
    ['list Secrets', () => client.list(Secret, { namespace: c.namespace })],
    ['read a Secret', () => client.get(Secret, metadata)],
    ['list pods', () => client.list(Pod, { namespace: c.namespace })],
    ['read the IgnitionSync', () => client.get(IgnitionSync, key(CR))],
    [
      'create an IgnitionSync',
      () => client.create(IgnitionSync, IgnitionSync.withDefaults({ metadata, spec: minimal() })),
    ],
    ['list all ConfigMaps', () => client.list(ConfigMap, { namespace: c.namespace })],
    ['read another ConfigMap', () => client.get(ConfigMap, metadata)],
    ['create a ConfigMap', () => client.create(ConfigMap, { metadata })],
    [
      'change what agents are told',
      () => client.patch(ConfigMap, key(names.metadata), { type: 'merge', body: { data: { commit: 'x' } } }),
    ],
    ['list all reports with the others', () => client.list(ConfigMap, named(names.status))],
    ['delete the reports', () => client.delete(ConfigMap, key(names.status))],
    ['read its own Role', () => client.get(Role, key(names.agent))],
    ['list events', () => client.list(Event, { namespace: c.namespace })],
  ];
  for (const [what, attempt] of refused) {
    const error: unknown = await attempt().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(isForbidden(error), what).toBe(true);
  }
});

const named = (name: string) => ({ namespace: c.namespace, fieldSelector: `metadata.name=${name}` });
