import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, Secret } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { forEachConcurrently } from '@bowline/machinery';
import { s } from '@bowline/machinery/schema';
import { expect, test } from 'vitest';
import { atScale } from '../../../../test/support/at-scale.ts';
import { managedContent } from '../content/managed-content.ts';
import { defineOperator } from '../operator/operator.ts';
import { defineResource } from '../resource/define-resource.ts';
import { controller } from './builder.ts';
import { terminal } from './reconcile-error.ts';

const OBJECTS = atScale(500);

const Note = defineResource({
  group: 'restart.test.bowline.dev',
  version: 'v1',
  kind: 'Note',
  scope: 'Namespaced',
  spec: s.object({ text: s.string() }),
  status: s.object({ words: s.integer().optional() }),
});

const NOTE = 'restart.test.bowline.dev/note';
const texts = managedContent({
  resource: Secret,
  maps: ['data'],
  managers: ['restart-test'],
  annotations: { hash: `${NOTE}-hash`, time: `${NOTE}-time`, keys: `${NOTE}-keys` },
  operatorAnnotations: {},
});

const notes = controller(Note, { concurrency: 16 })
  .owns(ConfigMap)
  .applies(ConfigMap)
  .watches(Secret, { view: texts.view, labelSelector: NOTE, map: ({ namespace, name }) => [{ namespace, name }] })
  .ensures(Secret)
  .reconcile(async ({ object, key, apply, ensure, status, event }) => {
    const { text } = object.spec;
    if (text === '') throw terminal('NoText', 'spec.text is empty; write something');
    await apply(ConfigMap, { metadata: key, data: { text } });
    const data = { text: Buffer.from(text).toString('base64') };
    const desired = texts.desired({
      content: { data },
      labels: { [NOTE]: key.name },
      operatorAnnotations: {},
      members: { type: 'Opaque' },
    });
    await ensure(texts, key, desired, { claim: ({ labels }) => (labels[NOTE] === key.name ? 'ours' : 'foreign') });
    status.set({ words: text.split(' ').length });
    status.condition('Long', text.length > 10, 'Counted', 'the letters were counted');
    event('Normal', 'Kept', 'the text is kept');
  });

test(`${OBJECTS} objects with children, conditions and events cost no write after a restart`, async () => {
  const operator = defineOperator({ name: 'restart', domain: 'bowline.dev', resources: [Note], controllers: [notes] });
  await using c = await cluster({ operators: [operator] });
  const names = Array.from({ length: OBJECTS }, (_, index) => `note-${index}`);
  const failures = await forEachConcurrently(names, 16, (name) => {
    // One in ten is empty, which is a lasting failure.
    const text = Number(name.slice(5)) % 10 === 0 ? '' : `this is ${name}`;
    return c.admin.create(Note, Note.withDefaults({ metadata: { namespace: c.namespace, name }, spec: { text } }));
  });
  expect(failures).toEqual([]);
  const fieldSelector = 'reportingController=bowline-restart-note';
  const limits = { timeoutMs: 60_000 };
  await c.untilList(Event, { fieldSelector }, (events) => events.length === OBJECTS, limits);
  await c.idle();
  const since = Date.now();
  await c.restart();
  await c.idle();
  // A fresh process handles this object last, after everything it may have to report.
  await c.admin.create(
    Note,
    Note.withDefaults({ metadata: { namespace: c.namespace, name: 'last' }, spec: { text: 'the last one' } }),
  );
  const events = await c.untilList(Event, { fieldSelector }, (items) =>
    items.some(({ regarding }) => regarding?.name === 'last'),
  );
  expect(events).toHaveLength(OBJECTS + 1);
  expect(events.filter(({ series }) => series)).toEqual([]);
  const requests = (await c.controlPlane.audit(since))
    // A watch may deliver an earlier event before the response to the request that stored it is complete, and within the
    // same millisecond.
    .filter(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp) > since)
    // A lasting warning is sent once more, in case the previous process was killed first; the server rejects it.
    .filter(({ objectRef, responseStatus }) => objectRef?.resource !== 'events' || responseStatus?.code !== 409)
    .filter(({ user }) => user.username?.startsWith(`system:serviceaccount:${c.managerNamespace}:`))
    .filter(({ verb, objectRef }) => !['get', 'list', 'watch'].includes(verb) && objectRef?.resource !== 'leases')
    .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}/${objectRef?.subresource ?? ''} ${objectRef?.name}`);
  expect(requests.map((request) => request.replace(/ last\..*/, ' last'))).toEqual([
    'patch configmaps/ last',
    'create secrets/ last',
    'patch notes/status last',
    'create events/ last',
  ]);
}, 120_000);
