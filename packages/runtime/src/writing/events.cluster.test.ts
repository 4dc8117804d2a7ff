import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, keyOf, Namespace } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { describe, expect, test } from 'vitest';
import { EventRecorder } from './event-recorder.ts';

describe('EventRecorder, on a control plane', () => {
  test('sends events that kubectl shows, counts repetitions, and creates a new one when the old one is gone', async () => {
    await using c = await cluster();
    const recorder = new EventRecorder({ client: c.admin, controller: 'bowline-test-events', instance: 'test-0' });
    const stop = new AbortController();
    const running = recorder.run(stop.signal);
    const object = await c.admin.create(ConfigMap, { metadata: { namespace: c.namespace, name: 'a' } });
    const about = `regarding.uid=${object.metadata?.uid}`;
    const message = {
      type: 'Warning',
      reason: 'SourceMissing',
      note: `the source is missing ${'ä'.repeat(1024)}`,
    } as const;
    recorder.record(ConfigMap, object, message);
    recorder.record(ConfigMap, object, message);
    recorder.record(ConfigMap, object, message);
    const [event] = await c.untilList(Event, { fieldSelector: about }, (items) => items[0]?.series?.count === 3);
    expect(event).toMatchObject({
      type: 'Warning',
      reason: 'SourceMissing',
      action: 'Reconcile',
      reportingController: 'bowline-test-events',
      reportingInstance: 'test-0',
      regarding: { kind: 'ConfigMap', name: 'a' },
    });
    if (!event) throw new Error('no event');
    await c.admin.delete(Event, keyOf(event));
    recorder.record(ConfigMap, object, message);
    const [again] = await c.untilList(Event, { fieldSelector: about }, (items) => items.length === 1);
    expect(again?.metadata?.uid).not.toBe(event.metadata?.uid);

    const namespace = await c.admin.get(Namespace, { name: c.namespace });
    recorder.record(Namespace, namespace, { type: 'Normal', reason: 'Seen', note: 'a cluster-scoped object' });
    stop.abort();
    await running;
    const fieldSelector = `regarding.uid=${namespace.metadata?.uid}`;
    const { items } = await c.admin.list(Event, { namespace: 'default', fieldSelector });
    expect(items.map(({ reason }) => reason)).toEqual(['Seen']);
  });
});
