import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { CustomResourceDefinition, type KubernetesObject, keyOf, type Resource, resource } from '@bowline/kubernetes';
import type { Condition } from '@bowline/kubernetes/meta-v1';
import { systemClock } from '@bowline/machinery';
import { describe, expect, test } from 'vitest';
import { isKindNotServed } from '../errors/api-error.ts';
import { findCondition } from '../writing/conditions.ts';
import { ObservedClient } from '../writing/observed-client.test-support.ts';
import { writeStatus } from '../writing/write-status.ts';
import { StatusDraft } from './status-collector.ts';
import type { ReconcileOutcome } from './summary.ts';

interface ThingStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly pods?: number;
}

interface Thing extends KubernetesObject {
  readonly spec?: { readonly size?: number };
  readonly status?: ThingStatus;
}

/** install creates a kind of its own for a test: clusters are shared. */
async function install(c: Cluster): Promise<Resource<Thing>> {
  const group = `${c.uniqueName('status')}.bowline.dev`;
  const name = `things.${group}`;
  await c.admin.create(CustomResourceDefinition, {
    metadata: { name },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Thing', plural: 'things' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      ],
    },
  });
  c.onDispose(() => c.admin.delete(CustomResourceDefinition, { name }));
  await c.until(CustomResourceDefinition, { name }, ({ status }) =>
    Boolean(status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True')),
  );
  const things = resource<Thing>()({
    group,
    version: 'v1',
    kind: 'Thing',
    plural: 'things',
    scope: 'Namespaced',
  });
  // Established means that it is about to be served.
  for (;;) {
    try {
      await c.admin.list(things, { namespace: c.namespace });
      return things;
    } catch (error) {
      if (!isKindNotServed(error)) throw error;
    }
  }
}

function write(
  client: ObservedClient,
  things: Resource<Thing>,
  object: Thing,
  draft: StatusDraft<ThingStatus>,
  outcome?: ReconcileOutcome,
) {
  const at = { now: systemClock.now(), generation: object.metadata?.generation, outcome };
  return writeStatus(client, things, object, (stored) => draft.applyTo(stored, at), {
    fieldManager: 'bowline-test-status',
  });
}

describe('writeStatus', () => {
  test('writes once, then only changes, keeps the conditions of others, and follows the generation', async () => {
    await using c = await cluster();
    const things = await install(c);
    const client = new ObservedClient(c.admin);
    const created = await c.admin.create(things, {
      metadata: { namespace: c.namespace, name: 'a' },
      spec: { size: 1 },
    });
    const draft = new StatusDraft<ThingStatus>();
    draft.condition('Available', true, 'PodsReady', 'all pods are ready');
    draft.set({ pods: 3 });
    const first = await write(client, things, created, draft, { type: 'done' });
    expect(first?.status).toMatchObject({ observedGeneration: 1, pods: 3 });
    expect(findCondition(first ?? {}, 'Ready')).toMatchObject({ status: 'True', observedGeneration: 1 });
    expect(client.verbs()).toBe('merge');
    if (!first) throw new Error('gone');
    await write(client, things, first, draft, { type: 'done' });
    expect(client.verbs()).toBe('');

    const theirs: Condition = {
      type: 'Theirs',
      status: 'True',
      reason: 'A',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const conditions = [...(first.status?.conditions ?? []), theirs];
    client.before('patch', () =>
      c.admin.patch(
        things,
        keyOf(first),
        { type: 'merge', body: { status: { conditions } } },
        { subresource: 'status' },
      ),
    );
    const next = new StatusDraft<ThingStatus>();
    next.condition('Available', false, 'PodsMissing', 'one pod is missing');
    next.set({ pods: undefined });
    const second = await write(client, things, first, next, { type: 'waiting' });
    expect(client.verbs()).toBe('merge find merge');
    expect(second?.status?.conditions?.map(({ type, status }) => `${type}=${status}`).sort()).toEqual([
      'Available=False',
      'Ready=False',
      'Reconciling=True',
      'Theirs=True',
    ]);
    expect(second?.status).not.toHaveProperty('pods');

    const changed = await c.admin.patch(things, keyOf(first), { type: 'merge', body: { spec: { size: 2 } } });
    const third = await write(client, things, changed, draft, { type: 'done' });
    expect(third?.status).toMatchObject({ observedGeneration: 2 });
    const late = await write(client, things, { ...changed, metadata: { ...changed.metadata, generation: 1 } }, draft);
    expect(late?.status?.observedGeneration).toBe(2);
  });

  test('does not write to an object that is gone or was recreated', async () => {
    await using c = await cluster();
    const things = await install(c);
    const client = new ObservedClient(c.admin);
    const metadata = { namespace: c.namespace, name: 'a' };
    const created = await c.admin.create(things, { metadata });
    await c.admin.delete(things, metadata);
    const draft = new StatusDraft<ThingStatus>();
    expect(await write(client, things, created, draft, { type: 'done' })).toBeUndefined();
    await c.admin.create(things, { metadata });
    expect(await write(client, things, created, draft, { type: 'done' })).toBeUndefined();
    expect((await c.admin.get(things, metadata)).status).toBeUndefined();
  });
});
