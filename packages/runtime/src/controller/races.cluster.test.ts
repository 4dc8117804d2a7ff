import { cluster } from '@bowline/control-plane/testing';
import type { KubernetesObject } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { expect, test, vi } from 'vitest';
import { defineOperator } from '../operator/operator.ts';
import { defineResource } from '../resource/define-resource.ts';
import { installCustomResourceDefinitions } from '../resource/install-crds.ts';
import { controller } from './builder.ts';
import { InterceptingTransport, transportOf } from './intercepting-transport.test-support.ts';
import { runOperator } from './run-operator.test-support.ts';

const Race = defineResource({
  group: 'races.test.bowline.dev',
  version: 'v1',
  kind: 'Race',
  scope: 'Namespaced',
  spec: s.object({ lap: s.integer().default(0) }),
  status: s.object({}),
});

/** Gates holds each run until the test releases it. */
class Gates {
  readonly begun: string[] = [];
  readonly #open: (() => void)[] = [];

  hold(name: string): Promise<void> {
    this.begun.push(name);
    return new Promise((resolve) => this.#open.push(resolve));
  }

  async untilBegun(count: number): Promise<void> {
    await vi.waitFor(() => expect(this.begun).toHaveLength(count), { timeout: 20_000 });
  }

  letGo(place: number): void {
    this.#open[place]?.();
  }
}

test('a status refers to the generation and the object that the run has observed', async () => {
  const gates = new Gates();
  const races = controller(Race, { view: 'metadata' }).reconcile(({ object }) => gates.hold(object.metadata.uid ?? ''));
  const operator = defineOperator({ name: 'races', domain: 'bowline.dev', resources: [Race], controllers: [races] });
  await using c = await cluster({ operators: [operator], drainTimeoutMs: 0 });
  const key = { namespace: c.namespace, name: 'a' };
  const race = () => Race.withDefaults({ metadata: key, spec: {} });
  await c.admin.create(Race, race());
  await gates.untilBegun(1);
  await c.admin.patch(Race, key, { type: 'merge', body: { spec: { lap: 1 } } });
  gates.letGo(0);
  const { status } = await c.until(Race, key, (each) => each.status?.observedGeneration !== undefined);
  expect(status?.observedGeneration).toBe(1);

  await gates.untilBegun(2);
  await c.admin.delete(Race, key);
  const { metadata } = await c.admin.create(Race, race());
  gates.letGo(1);
  await gates.untilBegun(3);
  expect(gates.begun[2]).toBe(metadata?.uid);
  expect((await c.admin.get(Race, key)).status).toBeUndefined();
  gates.letGo(2);
  await c.until(Race, key, (each) => each.status?.observedGeneration === 1);
});

test('an object that is deleted right after its finalizer was added is cleaned up and never reconciled', async () => {
  await using c = await cluster();
  await installCustomResourceDefinitions(c.admin, [Race]);
  const key = { namespace: c.namespace, name: 'a' };
  const ran: string[] = [];
  let noticed = (): void => undefined;
  const deletionNoticed = new Promise<void>((resolve) => {
    noticed = resolve;
  });
  // An index function sees what the cache stores.
  const indexes = {
    deleted: ({ metadata }: KubernetesObject) => {
      if (metadata?.deletionTimestamp !== undefined) noticed();
      return [];
    },
  };
  const races = controller(Race, { namespaces: [c.namespace], indexes })
    .reconcile(() => void ran.push('reconcile'))
    .cleanup(() => void ran.push('cleanup'));
  await using transport = await transportOf(c, 'admin');
  const slow = new InterceptingTransport(transport, async (request, send) => {
    const response = await send();
    if (request.method === 'PATCH' && request.body?.toString().includes('finalizers')) {
      await c.admin.delete(Race, key).catch(() => undefined);
      await deletionNoticed;
    }
    return response;
  });
  const operator = defineOperator({ name: 'races', domain: 'bowline.dev', resources: [Race], controllers: [races] });
  const running = runOperator(c, operator, slow);
  await c.admin.create(Race, Race.withDefaults({ metadata: key, spec: {} }));
  await vi.waitFor(() => expect(ran).not.toEqual([]), { timeout: 20_000 });
  await c.untilGone(Race, key);
  running.stop();
  await running.ended;
  expect(ran).toEqual(['cleanup']);
});
