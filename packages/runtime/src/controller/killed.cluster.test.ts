import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, type KubernetesObject, keyOf, type ObjectKey, type Resource, Secret } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { expect, test } from 'vitest';
import { defineOperator } from '../operator/operator.ts';
import { allow } from '../permissions/permission.ts';
import { defineResource } from '../resource/define-resource.ts';
import { installCustomResourceDefinitions } from '../resource/install-crds.ts';
import type { Transport } from '../transport/transport.ts';
import { type CleanupTier, cleanUpTiers } from '../writing/cleanup-tiers.ts';
import { controller } from './builder.ts';
import { InterceptingTransport, transportOf } from './intercepting-transport.test-support.ts';
import { runOperator } from './run-operator.test-support.ts';

const GROUP = 'killed.test.bowline.dev';
const LABEL = `${GROUP}/fleet`;
const AGENT_FINALIZER = `${GROUP}/agent`;

const Fleet = defineResource({
  group: GROUP,
  version: 'v1',
  kind: 'Fleet',
  scope: 'Namespaced',
  spec: s.object({ elsewhere: s.string() }),
  status: s.object({ waitingFor: s.string().optional() }),
});

/**
 * It creates two agents, one with a finalizer, and their settings in another namespace; the agents are deleted first.
 */
const fleetsIn = (home: string) =>
  controller(Fleet, { namespaces: [home] })
    .applies(ConfigMap, { remove: true })
    .applies(Secret, { remove: true })
    .reconcile(async ({ object, key, apply }) => {
      const labels = { [LABEL]: key.name };
      const { namespace } = key;
      await apply(ConfigMap, { metadata: { namespace, name: 'agent-a', labels, finalizers: [AGENT_FINALIZER] } });
      await apply(ConfigMap, { metadata: { namespace, name: 'agent-b', labels } });
      const settings = { metadata: { namespace: object.spec.elsewhere, name: 'settings' }, type: 'Opaque' };
      await apply(Secret, settings, { labels });
    })
    .cleanup(async (context) => {
      const { object, key, live, remove, status, deletion } = context;
      const labels = { [LABEL]: key.name };
      // Found by label alone, on purpose: `remove` must detect which of them are not ours.
      const tier = (name: string, resource: Resource<KubernetesObject>, namespace = ''): CleanupTier => ({
        name,
        forcedFinalizer: AGENT_FINALIZER,
        async find() {
          const { items } = await live.list(resource, { namespace, labelSelector: `${LABEL}=${key.name}` });
          return items.map((each) => ({ resource, object: each }));
        },
      });
      const tiers = [tier('agents', ConfigMap, key.namespace), tier('settings', Secret, object.spec.elsewhere)];
      const progress = await cleanUpTiers(context, tiers, {
        timeoutMs: 0,
        deletion,
        remove: ({ resource, object: { metadata = {} } }, given) => {
          const target = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
          const { uid } = metadata;
          return resource.id === Secret.id
            ? remove(Secret, target, { ...given, labels, uid })
            : remove(ConfigMap, target, { ...given, labels, uid });
        },
      });
      status.set({ waitingFor: progress.tier });
      return progress.isDone ? undefined : { requeueAfterMs: progress.requeueAfterMs };
    });

/**
 * How a step ends: `unsent` and `unanswered` kill the process before a request is sent, and after it was stored but
 * before its response arrives; `lost` loses only the response.
 */
type Fault = 'unsent' | 'unanswered' | 'lost';

/** World is what all lives of the operator share. */
interface World {
  readonly c: Cluster;
  readonly transport: Transport;
  /** Every write that reached the server, in order. */
  readonly writes: string[];
}

/** start runs the operator without any memory. With a fault, it happens at the `at`-th request that is not a watch. */
function start({ c, transport, writes }: World, fault?: { readonly kind: Fault; readonly at: number }) {
  const end = new AbortController();
  let requests = 0;
  let isDead = false;
  const failure = () => new Error('the connection is gone');
  const die = (): Error => {
    isDead = true;
    end.abort();
    return failure();
  };
  const cut = new InterceptingTransport(transport, async (request, send) => {
    if (isDead) throw failure();
    if (request.lane === 'watch') return send();
    const isFaulty = ++requests === fault?.at;
    if (isFaulty && fault.kind === 'unsent') throw die();
    if (request.method !== 'GET') writes.push(`${request.method} ${request.path.replace(/\?.*/, '')}`);
    const response = await send();
    if (isDead) throw failure();
    if (!isFaulty) return response;
    await response.text();
    throw fault.kind === 'unanswered' ? die() : failure();
  });
  const operator = defineOperator({
    name: 'fleet',
    domain: 'bowline.dev',
    resources: [Fleet],
    controllers: [fleetsIn(c.namespace)],
    permissions: [allow(['list'], ConfigMap), allow(['list'], Secret)],
  });
  const running = runOperator(c, operator, cut, { drainTimeoutMs: 0 });
  end.signal.addEventListener('abort', running.stop);
  return {
    stopped: running.ended,
    wasFaulty: () => requests >= (fault?.at ?? Number.POSITIVE_INFINITY),
    async stop(): Promise<void> {
      running.stop();
      await running.ended;
    },
  };
}

/**
 * live creates a Fleet and deletes it. It returns whether the fault happened; in any case, everything is gone at the
 * end.
 */
async function live(world: World, spec: { readonly elsewhere: string }, fault: { kind: Fault; at: number }) {
  const { c } = world;
  const key = { namespace: c.namespace, name: 'fleet' };
  const process = start(world, fault);
  await c.admin.create(Fleet, Fleet.withDefaults({ metadata: key, spec }));
  const ready = c.until(Fleet, key, ({ status }) => status?.conditions?.some(({ type }) => type === 'Ready') ?? false);
  // Whichever comes first; if the process is killed before, the Fleet never becomes ready.
  ready.catch(() => undefined);
  await Promise.race([ready, process.stopped]);
  await c.admin.delete(Fleet, key);
  const gone = c.untilGone(Fleet, key);
  const isDead = await Promise.race([gone.then(() => false), process.stopped.then(() => true)]);
  await process.stop();
  if (isDead) {
    const again = start(world);
    await gone;
    await again.stop();
  }
  return process.wasFaulty();
}

/** Objects that could be mistaken for the operator's. */
async function bystanders(c: Cluster, elsewhere: string): Promise<() => Promise<string[]>> {
  const made: [Resource<KubernetesObject>, ObjectKey][] = [];
  const make = async (
    resource: Resource<KubernetesObject>,
    namespace: string,
    name: string,
    metadata: KubernetesObject['metadata'] = {},
  ) => {
    const object = await c.admin.create(resource, { metadata: { ...metadata, namespace, name } });
    made.push([resource, keyOf(object)]);
    return object;
  };
  const labels = { [LABEL]: 'fleet' };
  const third = await c.createNamespace();
  const { metadata: other } = await make(ConfigMap, c.namespace, 'other');
  const controlled = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: other?.uid ?? '', controller: true };
  await make(ConfigMap, c.namespace, 'of-another-owner', { labels, ownerReferences: [controlled] });
  // A version that is not served prevents the garbage collector from looking for the owner and removing the object.
  const stale = { apiVersion: `${GROUP}/v0`, kind: 'Fleet', name: 'fleet', uid: 'of-an-earlier-one', controller: true };
  await make(ConfigMap, c.namespace, 'of-a-stale-uid', { labels, ownerReferences: [stale] });
  await make(ConfigMap, c.namespace, 'of-another-fleet', { labels: { [LABEL]: 'fleet-2' } });
  await make(Secret, elsewhere, 'unlabelled');
  for (const namespace of [third, elsewhere]) await make(ConfigMap, namespace, 'agent-a', { labels });
  for (const namespace of [third, c.namespace]) await make(Secret, namespace, 'settings', { labels });
  return () =>
    Promise.all(
      made.map(async ([resource, key]) => {
        const { metadata } = await c.admin.get(resource, key);
        return `${resource.kind} ${key.namespace}/${key.name} ${metadata?.uid} ${metadata?.resourceVersion}`;
      }),
    );
}

test.each<Fault>(['unsent', 'unanswered', 'lost'])(
  'a cleanup in tiers completes in order wherever the operator is killed (%s), and touches no foreign object',
  async (kind) => {
    await using c = await cluster();
    await installCustomResourceDefinitions(c.admin, [Fleet]);
    await using transport = await transportOf(c, 'admin');
    const elsewhere = await c.createNamespace();
    const state = await bystanders(c, elsewhere);
    const before = await state();
    const ours = [`configmaps/agent-a`, `configmaps/agent-b`, `secrets/settings`];
    let at = 1;
    for (let wasFaulty = true; wasFaulty; at++) {
      const writes: string[] = [];
      wasFaulty = await live({ c, transport, writes }, { elsewhere }, { kind, at });
      expect(await state(), `struck at request ${at}`).toEqual(before);
      const left = await c.admin.list(ConfigMap, { namespace: c.namespace, labelSelector: `${LABEL}=fleet` });
      expect(left.items.map(({ metadata }) => metadata?.name).toSorted()).toEqual([
        'of-a-stale-uid',
        'of-another-owner',
      ]);
      expect(await c.admin.find(Secret, { namespace: elsewhere, name: 'settings' })).toBeUndefined();
      // The settings are deleted after the last agent is gone, and only our objects are deleted.
      const deletions = writes.filter((write) => write.startsWith('DELETE'));
      expect(
        deletions.every((write) => ours.some((path) => write.endsWith(path))),
        deletions.join(),
      ).toBe(true);
      const settings = writes.findIndex((write) => write.startsWith('DELETE') && write.endsWith('secrets/settings'));
      const agents = writes.findLastIndex((write) => !write.startsWith('POST') && write.includes('configmaps/agent-'));
      if (settings >= 0) expect(settings, writes.join('\n')).toBeGreaterThan(agents);
    }
    // Every step was interrupted: the last run had no step left.
    expect(at).toBeGreaterThan(15);
  },
  120_000,
);
