import { type Cluster, cluster, type RunningOperators } from '@bowline/control-plane/testing';
import { ConfigMap, Secret } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { untilAborted, VirtualClock } from '@bowline/machinery';
import { s } from '@bowline/machinery/schema';
import { describe, expect, it, vi } from 'vitest';
import { transformWatch, wrapClient } from '../../../../test/support/wrap-client.ts';
import type { Client } from '../client/client.ts';
import { managedContent } from '../content/managed-content.ts';
import { defineOperator } from '../operator/operator.ts';
import { allow } from '../permissions/permission.ts';
import { defineResource } from '../resource/define-resource.ts';
import { controller } from './builder.ts';
import { labelsChanged } from './predicates.ts';
import { terminal } from './reconcile-error.ts';

const FINALIZER = 'runs.test.bowline.dev/finalizer';

const Page = defineResource({
  group: 'runs.test.bowline.dev',
  version: 'v1',
  kind: 'Page',
  scope: 'Namespaced',
  spec: s.object({ text: s.string().default('') }),
  status: s.object({ words: s.integer().optional() }),
});

const page = (c: Cluster, name = 'a', text = 'one two') =>
  Page.withDefaults({ metadata: { namespace: c.namespace, name }, spec: { text } });

/** Returns the operator's recorded requests to the API server about a resource. */
async function requests(c: Cluster & RunningOperators, resource: string, verbs: readonly string[]): Promise<string[]> {
  const events = await c.controlPlane.audit();
  return events
    .filter(({ user }) => user.username?.startsWith(`system:serviceaccount:${c.managerNamespace}:`))
    .filter(({ objectRef, verb }) => objectRef?.resource === resource && verbs.includes(verb))
    .map(
      ({ verb, objectRef }) => `${verb} ${objectRef?.name}${objectRef?.subresource ? ` ${objectRef.subresource}` : ''}`,
    );
}

describe('a controller that cleans up', () => {
  it('adds its finalizer before anything else, cleans up until it is done, and never reconciles an object that is being deleted', async () => {
    const clock = new VirtualClock({ startMs: Date.now() });
    const seen: string[] = [];
    let isDone = false;
    const pages = controller(Page)
      .applies(Secret, { remove: true })
      // Deletions must be noticed although they change no label.
      .when(labelsChanged())
      .reconcile(async ({ object, key, apply }) => {
        seen.push(`reconcile ${object.metadata?.finalizers?.join()}`);
        await apply(Secret, { metadata: key });
      })
      .cleanup(async ({ key, remove, deletion, status }) => {
        seen.push(`cleanup ${deletion.mode}`);
        const { outcome } = await remove(Secret, key);
        seen.push(outcome);
        if (isDone) return;
        status.condition('Ready', false, 'Waiting', 'something else has to go first');
        return { requeueAfterMs: 60_000 };
      });
    const operator = defineOperator({
      name: 'cleaning',
      domain: 'bowline.dev',
      resources: [Page],
      controllers: [pages],
    });
    await using c = await cluster({ operators: [operator], clock });
    const key = { namespace: c.namespace, name: 'a' };
    await c.admin.create(Page, page(c));
    await c.until(Secret, key, () => true);
    expect(seen).toEqual([`reconcile ${FINALIZER}`]);

    await c.admin.delete(Page, key);
    const held = await c.until(Page, key, ({ status }) => status?.conditions?.[0]?.reason === 'Waiting');
    expect(held.metadata?.finalizers).toEqual([FINALIZER]);
    await c.untilGone(Secret, key);
    expect(seen.slice(1, 3)).toEqual(['cleanup background', 'deleted']);

    isDone = true;
    await clock.advance(60_000);
    await c.untilGone(Page, key);
    expect(seen.filter((each) => each.startsWith('reconcile'))).toHaveLength(1);
  });

  it('does not clean up again before the cache has observed that the object is gone', async () => {
    const observed = new AbortController();
    let cleanups = 0;
    const pages = controller(Page)
      .watches(ConfigMap, { map: ({ metadata }) => [{ namespace: metadata?.namespace, name: 'a' }] })
      .reconcile(() => undefined)
      .cleanup(() => {
        cleanups += 1;
      });
    const operator = defineOperator({ name: 'once', domain: 'bowline.dev', resources: [Page], controllers: [pages] });
    const delayed = (client: Client): Client =>
      wrapClient(client, (wrapped) => ({
        watch: async (kind, options) =>
          transformWatch(await wrapped.watch(kind, options), async function* (batches) {
            for await (const batch of batches) {
              if (kind.kind === Page.kind && batch.some(({ type }) => type === 'DELETED'))
                await untilAborted(observed.signal);
              yield batch;
            }
          }),
      }));
    await using c = await cluster({ operators: [operator], wrapClient: delayed });
    const key = { namespace: c.namespace, name: 'a' };
    await c.admin.create(Page, page(c));
    await c.until(Page, key, ({ metadata }) => metadata?.finalizers?.length === 1);
    await c.admin.delete(Page, key);
    await c.untilGone(Page, key);
    await c.admin.create(ConfigMap, { metadata: key });
    await c.idle();
    expect(cleanups).toBe(1);
    observed.abort();
  });

  it('keeps the orphan mode after the garbage collector has removed its finalizer, also in a later process', async () => {
    const clock = new VirtualClock({ startMs: Date.now() });
    const seen: string[] = [];
    const busy = new AbortController();
    let isDone = false;
    // A built-in kind: the garbage collector discovers a new kind only after a while.
    const texts = controller(ConfigMap, { labelSelector: 'runs.test.bowline.dev/text', finalizer: FINALIZER })
      .reconcile(async ({ signal }) => {
        seen.push('reconcile');
        await untilAborted(AbortSignal.any([busy.signal, signal]));
      })
      .cleanup(({ deletion }) => {
        seen.push(deletion.mode);
        return isDone ? undefined : { requeueAfterMs: 60_000 };
      });
    const operator = defineOperator({ name: 'orphaning', domain: 'bowline.dev', controllers: [texts] });
    await using c = await cluster({ operators: [operator], clock });
    const key = { namespace: c.namespace, name: 'a' };
    await c.admin.create(ConfigMap, { metadata: { ...key, labels: { 'runs.test.bowline.dev/text': '' } } });
    await vi.waitFor(() => expect(seen).toEqual(['reconcile']), { timeout: 20_000 });
    await c.admin.delete(ConfigMap, key, { propagationPolicy: 'Orphan' });
    await c.until(ConfigMap, key, ({ metadata }) => metadata?.finalizers?.join() === FINALIZER);
    busy.abort();
    await vi.waitFor(() => expect(seen).toContain('orphan'), { timeout: 20_000 });
    await c.idle();
    const first = seen.splice(0);

    await c.restart();
    await vi.waitFor(() => expect(seen).toContain('orphan'), { timeout: 20_000 });
    await c.idle();
    isDone = true;
    await clock.advance(60_000);
    await c.untilGone(ConfigMap, key);
    expect(new Set(first)).toEqual(new Set(['reconcile', 'orphan']));
    expect(new Set(seen)).toEqual(new Set(['orphan']));
  });

  it('does not reconcile an object whose deletion waits for another controller', async () => {
    const seen: string[] = [];
    const pages = controller(Page).reconcile(({ object: { metadata } }) => {
      seen.push(`${metadata?.name}${metadata?.deletionTimestamp === undefined ? '' : ' being deleted'}`);
    });
    const operator = defineOperator({ name: 'plain', domain: 'bowline.dev', resources: [Page], controllers: [pages] });
    await using c = await cluster({ operators: [operator] });
    const foreign = { ...page(c, 'held') };
    await c.admin.create(Page, { ...foreign, metadata: { ...foreign.metadata, finalizers: ['example.dev/other'] } });
    const { metadata } = await c.until(
      Page,
      { name: 'held' },
      ({ status }) => status?.observedGeneration !== undefined,
    );
    expect(metadata?.finalizers).toEqual(['example.dev/other']);
    await c.admin.delete(Page, { namespace: c.namespace, name: 'held' });
    await c.admin.create(Page, page(c, 'after'));
    await vi.waitFor(() => expect(seen).toContain('after'), { timeout: 20_000 });
    expect(seen).toContain('held');
    expect(seen).not.toContain('held being deleted');
  });
});

describe('the status and events of a run', () => {
  it('are one status patch per run, none when nothing changes, and an event when a state begins', async () => {
    const pages = controller(Page).reconcile(({ object, status, event }) => {
      const words = object.spec.text.split(' ').length;
      status.set({ words });
      status.condition('Long', words > 2, words > 2 ? 'ManyWords' : 'FewWords', 'counted');
      if (words > 2) event('Normal', 'GotLong', 'the text has more than two words');
    });
    const operator = defineOperator({ name: 'saying', domain: 'bowline.dev', resources: [Page], controllers: [pages] });
    await using c = await cluster({ operators: [operator] });
    const key = { namespace: c.namespace, name: 'a' };
    await c.admin.create(Page, page(c));
    const first = await c.until(Page, key, ({ status }) => status?.words === 2);
    expect(first.status).toMatchObject({
      observedGeneration: 1,
      conditions: [
        { type: 'Long', status: 'False', reason: 'FewWords', observedGeneration: 1 },
        { type: 'Ready', status: 'True' },
      ],
    });
    await c.admin.patch(Page, key, { type: 'merge', body: { spec: { text: 'one two three' } } });
    await c.until(Page, key, ({ status }) => status?.words === 3 && status.observedGeneration === 2);
    await c.untilList(Event, {}, (events) => events.some(({ reason }) => reason === 'GotLong'));
    await c.restart();
    await c.idle();
    expect(await requests(c, 'pages', ['patch', 'update', 'create'])).toEqual(['patch a status', 'patch a status']);
  });

  it('need no read and no second patch after the run changed its own object', async () => {
    const pages = controller(Page).reconcile(async ({ object, key, live, status }) => {
      status.set({ words: 1 });
      if (object.metadata?.annotations?.counted) return;
      await live.patch(Page, key, { type: 'merge', body: { metadata: { annotations: { counted: 'yes' } } } });
    });
    const operator = defineOperator({
      name: 'marking',
      domain: 'bowline.dev',
      resources: [Page],
      controllers: [pages],
      permissions: [allow(['patch'], Page)],
    });
    await using c = await cluster({ operators: [operator] });
    await c.admin.create(Page, page(c));
    await c.until(Page, { name: 'a' }, ({ status }) => status?.words === 1);
    await c.idle();
    expect(await requests(c, 'pages', ['get', 'patch'])).toEqual(['patch a', 'patch a status']);
  });

  it('report bad input in a condition and an event, without a retry, until it is corrected', async () => {
    const pages = controller(Page).reconcile(({ object }) => {
      if (object.spec.text === 'bad') throw terminal('BadText', 'spec.text: "bad" is not a text; write another');
    });
    const operator = defineOperator({
      name: 'judging',
      domain: 'bowline.dev',
      resources: [Page],
      controllers: [pages],
    });
    await using c = await cluster({ operators: [operator] });
    const key = { namespace: c.namespace, name: 'a' };
    await c.admin.create(Page, page(c, 'a', 'bad'));
    const stalled = await c.until(Page, key, ({ status }) => status?.conditions !== undefined);
    const text = 'spec.text: "bad" is not a text; write another';
    expect(stalled.status?.conditions).toMatchObject([
      { type: 'Ready', status: 'False', reason: 'BadText', message: text },
      { type: 'Stalled', status: 'True', reason: 'BadText' },
    ]);
    await c.untilList(Event, {}, (events) =>
      events.some(({ type, reason, note }) => type === 'Warning' && reason === 'BadText' && note === text),
    );
    await c.admin.patch(Page, key, { type: 'merge', body: { spec: { text: 'good' } } });
    const ready = await c.until(Page, key, ({ status }) => status?.conditions?.[0]?.status === 'True');
    expect(ready.status?.conditions?.map(({ type }) => type)).toEqual(['Ready']);
  });

  it('report a conflicting object in a condition and an event, without changing it', async () => {
    const pages = controller(Page)
      .applies(ConfigMap)
      .reconcile(async ({ key, apply }) => void (await apply(ConfigMap, { metadata: key })));
    const operator = defineOperator({ name: 'taken', domain: 'bowline.dev', resources: [Page], controllers: [pages] });
    await using c = await cluster({ operators: [operator] });
    const taken = { namespace: c.namespace, name: 'a' };
    const { metadata } = await c.admin.create(ConfigMap, { metadata: taken });
    await c.admin.create(Page, page(c));
    const [event] = await c.untilList(Event, {}, (items) => items.length > 0);
    expect(event).toMatchObject({
      type: 'Warning',
      reason: 'ForeignObject',
      note: expect.stringContaining('is not ours'),
    });
    await c.until(Page, { name: 'a' }, ({ status }) => status?.conditions?.[0]?.message === event?.note);
    expect((await c.admin.get(ConfigMap, taken)).metadata?.resourceVersion).toBe(metadata?.resourceVersion);
  });

  it('explain what to declare when a run uses an undeclared kind, which is not requested from the server', async () => {
    const pages = controller(Page).reconcile(async ({ live, key }) => void (await live.get(Secret, key)));
    const operator = defineOperator({ name: 'asking', domain: 'bowline.dev', resources: [Page], controllers: [pages] });
    await using c = await cluster({ operators: [operator] });
    await c.admin.create(Page, page(c));
    const { status } = await c.until(Page, { name: 'a' }, (each) => each.status?.conditions !== undefined);
    expect(status?.conditions?.[0]?.message).toMatch(/declare \.owns\(Secret\).*allow\(\['get'\], Secret\)/);
    expect(await requests(c, 'secrets', ['get'])).toEqual([]);
  });
});

it('ensures objects whose names a user chose, and touches no others', async () => {
  const label = 'runs.test.bowline.dev/page';
  const texts = managedContent({
    resource: ConfigMap,
    maps: ['data'],
    managers: ['runs-test'],
    annotations: { hash: `${label}-hash`, time: `${label}-time`, keys: `${label}-keys` },
    operatorAnnotations: {},
  });
  const pages = controller(Page)
    .watches(ConfigMap, {
      view: texts.view,
      labelSelector: label,
      map: ({ namespace, labels }) => [{ namespace, name: labels[label] ?? '' }],
    })
    .ensures(ConfigMap, { remove: true })
    .reconcile(async ({ object, key, ensure, release, list }) => {
      const target = { namespace: key.namespace ?? '', name: `${object.spec.text}-chosen` };
      const isOurs = ({ labels }: { readonly labels: Readonly<Record<string, string>> }) => labels[label] === key.name;
      if (object.spec.text === 'none') {
        for (const view of list(ConfigMap).filter(isOurs)) {
          await release(texts, view, { delete: true, isStillOurs: isOurs });
        }
        return;
      }
      const desired = texts.desired({
        content: { data: { of: key.name } },
        labels: { [label]: key.name },
        operatorAnnotations: {},
      });
      const { stop } = await ensure(texts, target, desired, { claim: (view) => (isOurs(view) ? 'ours' : 'foreign') });
      if (stop) throw terminal('Taken', `cannot write ConfigMap ${target.name}: ${stop.reason}`);
    });
  const operator = defineOperator({ name: 'ensuring', domain: 'bowline.dev', resources: [Page], controllers: [pages] });
  await using c = await cluster({ operators: [operator] });
  await c.admin.create(ConfigMap, { metadata: { namespace: c.namespace, name: 'y-chosen' }, data: { mine: 'yes' } });
  await c.admin.create(Page, page(c, 'a', 'x'));
  await c.admin.create(Page, page(c, 'b', 'y'));
  await c.until(ConfigMap, { name: 'x-chosen' }, ({ data }) => data?.of === 'a');
  const refused = await c.until(Page, { name: 'b' }, ({ status }) => status?.conditions !== undefined);
  expect(refused.status?.conditions?.[0]?.message).toBe('cannot write ConfigMap y-chosen: exists');
  const kept = await c.admin.get(ConfigMap, { namespace: c.namespace, name: 'y-chosen' });
  expect(kept.data).toEqual({ mine: 'yes' });
  await c.admin.patch(Page, { namespace: c.namespace, name: 'a' }, { type: 'merge', body: { spec: { text: 'none' } } });
  await c.untilGone(ConfigMap, { name: 'x-chosen' });
});
