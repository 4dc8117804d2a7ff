import { cluster } from '@bowline/control-plane/testing';
import { Event } from '@bowline/kubernetes/events-v1';
import { s } from '@bowline/machinery/schema';
import { expect, test } from 'vitest';
import { defineOperator } from '../operator/operator.ts';
import { defineResource } from '../resource/define-resource.ts';
import { installCustomResourceDefinitions } from '../resource/install-crds.ts';
import { controller } from './builder.ts';
import { InterceptingTransport, transportOf } from './intercepting-transport.test-support.ts';
import { terminal } from './reconcile-error.ts';
import { runOperator } from './run-operator.test-support.ts';

const Draft = defineResource({
  group: 'killed-events.test.bowline.dev',
  version: 'v1',
  kind: 'Draft',
  scope: 'Namespaced',
  spec: s.object({ text: s.string() }),
  status: s.object({}),
});

const operatorIn = (namespace: string) =>
  defineOperator({
    name: 'drafts',
    domain: 'bowline.dev',
    resources: [Draft],
    controllers: [
      controller(Draft, { namespaces: [namespace] }).reconcile(({ object }) => {
        if (object.spec.text === '') throw terminal('NoText', 'spec.text is empty; write something');
      }),
    ],
  });

test('a warning is sent by the next process when the previous one was killed after writing the status', async () => {
  await using c = await cluster();
  await installCustomResourceDefinitions(c.admin, [Draft]);
  await using transport = await transportOf(c, 'admin');
  const operator = operatorIn(c.namespace);
  const metadata = { namespace: c.namespace, name: 'empty' };
  await c.admin.create(Draft, Draft.withDefaults({ metadata, spec: { text: '' } }));

  // Killed: from the first event on, no request of this process reaches the server.
  let isDead = false;
  const cut = new InterceptingTransport(transport, (request, send) => {
    isDead ||= request.path.includes('/events');
    return isDead ? Promise.reject(new Error('killed')) : send();
  });
  const killed = runOperator(c, operator, cut, { drainTimeoutMs: 0 });
  const stalled = await c.until(Draft, { name: 'empty' }, ({ status }) => status?.conditions !== undefined);
  await expect.poll(() => isDead).toBe(true);
  killed.stop();
  await killed.ended;
  expect((await c.admin.list(Event, { namespace: c.namespace })).items).toEqual([]);

  for (let restart = 0; restart < 3; restart++) {
    let answered = 0;
    const counting = new InterceptingTransport(transport, async (request, send) => {
      const response = await send();
      if (request.path.includes('/events')) answered += 1;
      return response;
    });
    const running = runOperator(c, operator, counting);
    await expect.poll(() => answered).toBe(1);
    running.stop();
    await running.ended;
    const { items } = await c.admin.list(Event, { namespace: c.namespace });
    expect(items).toMatchObject([{ type: 'Warning', reason: 'NoText', regarding: { name: 'empty' } }]);
    expect(items[0]?.series).toBeUndefined();
  }
  const after = await c.admin.get(Draft, metadata);
  expect(after.metadata?.resourceVersion).toBe(stalled.metadata?.resourceVersion);
});
