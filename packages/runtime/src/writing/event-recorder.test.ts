import { ConfigMap } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { seededRandom, VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { type ScriptedResponse, ScriptedTransport } from '../client/scripted-transport.test-support.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { MemoryApiServer } from '../testing/memory-api-server.ts';
import type { EventMessage, EventReport } from './event.ts';
import { EventRecorder, type EventRecorderOptions } from './event-recorder.ts';

const object = { metadata: { namespace: 'default', name: 'a', uid: 'u' } };
const other = { metadata: { namespace: 'default', name: 'b', uid: 'v' } };
const ready: EventMessage = { type: 'Normal', reason: 'Ready', note: 'it is ready' };
const broken: EventMessage = { type: 'Warning', reason: 'Broken', note: 'it is broken' };

function setUp(answers: readonly ScriptedResponse[] = [], options: Partial<EventRecorderOptions> = {}) {
  const transport = new ScriptedTransport(...answers, ...Array.from({ length: 50 }, () => ({ body: {} })));
  const clock = new VirtualClock();
  const recorder = new EventRecorder({
    client: createClient({ transport }),
    controller: 'bowline-test',
    instance: 'test-0',
    clock,
    random: seededRandom(1),
    ...options,
  });
  /** sent runs the recorder until it is empty and returns what was sent. */
  const sent = async (): Promise<string[]> => {
    const before = transport.requests.length;
    await recorder.run(AbortSignal.abort());
    return transport.requests.slice(before).map(({ method }, index) => {
      const body = transport.sent(before + index) as Event;
      return method === 'POST' ? `new ${body.reason}` : `count ${body.series?.count}`;
    });
  };
  return { transport, clock, recorder, sent };
}

describe('EventRecorder', () => {
  it('records a state when it begins, not while it lasts, and increments its count when it recurs', async () => {
    const { recorder, sent } = setUp();
    const observe = async (...messages: EventMessage[]): Promise<string[]> => {
      recorder.transitions(ConfigMap, object, messages);
      return sent();
    };
    expect(await observe(broken)).toEqual(['new Broken']);
    expect(await observe(broken)).toEqual([]);
    expect(await observe(broken, ready)).toEqual(['new Ready']);
    expect(await observe(ready)).toEqual([]);
    expect(await observe(broken)).toEqual(['count 2']);
    expect(await observe()).toEqual([]);
    expect(await observe(broken, broken)).toEqual(['count 3']);
  });

  it('does not send a normal event of a first observation unless isNews, but does after one without messages', async () => {
    const { recorder, sent } = setUp();
    const observe = async (messages: readonly EventMessage[], about = object): Promise<string[]> => {
      recorder.transitions(ConfigMap, about, messages, { isNews: false });
      return sent();
    };
    expect(await observe([ready])).toEqual([]);
    expect(await observe([broken, ready])).toEqual(['new Broken']);
    expect(await observe([], other)).toEqual([]);
    expect(await observe([ready], other)).toEqual(['new Ready']);
  });

  it('compares the messages about each object with those of the previous observation with the same key', async () => {
    const { recorder, sent, transport } = setUp();
    const about = (uid: string, message: EventMessage) => ({
      regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: `pod-${uid}`, uid },
      message,
    });
    const observe = async (key: string, ...reports: EventReport[]): Promise<string[]> => {
      recorder.reports(key, reports);
      return sent();
    };
    expect(await observe('a', about('1', broken), about('2', broken), about('1', broken))).toEqual([
      'new Broken',
      'new Broken',
    ]);
    expect((transport.sent(1) as Event).regarding).toMatchObject({ kind: 'Pod', name: 'pod-2', uid: '2' });
    expect(await observe('a', about('1', broken), about('2', ready))).toEqual(['new Ready']);
    // Another key reports the same about the same object: it is counted up.
    expect(await observe('b', about('1', broken))).toEqual(['count 2']);
    expect(await observe('a')).toEqual([]);
    expect(await observe('b', about('1', broken))).toEqual([]);
    expect(await observe('a', about('1', broken))).toEqual(['count 3']);
  });

  it('creates a new event when the last one is old or gone', async () => {
    const gone: ScriptedResponse = {
      status: 404,
      body: { kind: 'Status', reason: 'NotFound', details: { name: 'x' } },
    };
    const { recorder, sent, clock } = setUp([{ body: {} }, { body: {} }, gone]);
    recorder.record(ConfigMap, object, ready);
    expect(await sent()).toEqual(['new Ready']);
    await clock.advance(360_001);
    recorder.record(ConfigMap, object, ready);
    expect(await sent()).toEqual(['new Ready']);
    recorder.record(ConfigMap, object, ready);
    expect(await sent()).toEqual(['count 2', 'new Ready']);
  });

  it('limits the events of one object without affecting another', async () => {
    const { recorder, sent, clock } = setUp([], { burst: 2, refillMs: 1_000 });
    const record = (text: string, about = object) => recorder.record(ConfigMap, about, { ...ready, reason: text });
    for (const text of ['A', 'B', 'C']) record(text);
    record('D', other);
    expect(await sent()).toEqual(['new A', 'new B', 'new D']);
    await clock.advance(1_000);
    for (const text of ['E', 'F']) record(text);
    expect(await sent()).toEqual(['new E']);
  });

  it('drops events beyond the queue limit, and sends them when they are reported again', async () => {
    const { recorder, sent } = setUp([], { queueLimit: 2, burst: 100 });
    const messages = ['A', 'B', 'C'].map((reason) => ({ ...ready, reason }));
    recorder.transitions(ConfigMap, object, messages);
    expect(await sent()).toEqual(['new B', 'new C']);
    recorder.transitions(ConfigMap, object, messages);
    expect(await sent()).toEqual(['new A']);
    recorder.transitions(ConfigMap, object, messages);
    expect(await sent()).toEqual([]);
  });

  it('sends rejected and rate-limited events when they are reported again', async () => {
    const { recorder, sent, clock } = setUp([{ status: 500, body: {} }, { body: {} }], { burst: 2, refillMs: 1_000 });
    const observe = async (...messages: EventMessage[]): Promise<string[]> => {
      recorder.transitions(ConfigMap, object, messages);
      return sent();
    };
    const worse = { ...broken, reason: 'Worse' };
    expect(await observe(broken, ready, worse)).toEqual(['new Broken', 'new Ready']);
    expect(await observe(broken, ready, worse)).toEqual([]);
    await clock.advance(2_000);
    expect(await observe(broken, ready, worse)).toEqual(['new Broken', 'new Worse']);
    expect(await observe(broken, ready, worse)).toEqual([]);
  });

  it('delivers the warnings of every tenant while two thousand pods fail in one namespace', async () => {
    const server = new MemoryApiServer();
    server.serve(Event);
    let inFlight = 0;
    let mostInFlight = 0;
    const below = server.transport();
    const client = createClient({
      transport: {
        ...below,
        async request(request) {
          mostInFlight = Math.max(mostInFlight, ++inFlight);
          await new Promise((resolve) => setImmediate(resolve));
          inFlight -= 1;
          return below.request(request);
        },
      },
    });
    const clock = new VirtualClock();
    const recorder = new EventRecorder({ client, controller: 'c', instance: 'i', clock, queueLimit: 1_000 });
    const podIn = (namespace: string, uid: string) => ({ metadata: { namespace, name: `pod-${uid}`, uid } });
    const pods = Array.from({ length: 2_000 }, (_, index) => podIn('storm', `s${index}`));
    const tenants = Array.from({ length: 30 }, (_, index) => podIn(`tenant-${index}`, `t${index}`));
    const observe = async (): Promise<void> => {
      for (const pod of [...pods, ...tenants]) recorder.transitions(ConfigMap, pod, [ready, broken]);
      await recorder.run(AbortSignal.abort());
      await clock.advance(120_000);
    };
    const created = () => server.writes().map((write) => write.split('/')[5]);
    await observe();
    expect(mostInFlight).toBe(8);
    const first = created().slice(0, 60);
    expect(tenants.filter(({ metadata }) => !first.includes(metadata.namespace))).toEqual([]);
    // The dropped events are sent by the following looks, and nothing is sent twice.
    for (let n = 0; n < 8; n++) await observe();
    expect(created()).toHaveLength(2 * (pods.length + tenants.length));
  });

  it('sends a lasting warning that a killed process did not send, and does not repeat one that was sent', async () => {
    const server = new MemoryApiServer();
    server.serve(Event);
    const newProcess = () =>
      new EventRecorder({ client: createClient({ transport: server.transport() }), controller: 'c', instance: 'i' });
    const reasons = () => server.all(Event).map(({ reason }) => reason);
    const killed = newProcess();
    killed.transitions(ConfigMap, object, [broken, ready]);
    for (let restart = 0; restart < 3; restart++) {
      const process = newProcess();
      process.transitions(ConfigMap, object, [broken, ready], { isNews: false });
      await process.run(AbortSignal.abort());
      expect(reasons()).toEqual(['Broken']);
    }
    // The state ended and began again: that is another event.
    const process = newProcess();
    process.transitions(ConfigMap, object, [broken], { isNews: true });
    await process.run(AbortSignal.abort());
    expect(reasons()).toEqual(['Broken', 'Broken']);
  });

  it('does not repeat events of keys after a restart', async () => {
    const server = new MemoryApiServer();
    server.serve(Event);
    const regarding = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'pod', uid: 'p' };
    for (let restart = 0; restart < 3; restart++) {
      const client = createClient({ transport: server.transport() });
      const process = new EventRecorder({ client, controller: 'c', instance: `i-${restart}` });
      process.reports('key', [{ regarding, message: broken }]);
      await process.run(AbortSignal.abort());
    }
    expect(server.all(Event)).toHaveLength(1);
  });

  it('sends an event that was recorded several times while waiting once, with its count', async () => {
    const { recorder, sent, transport } = setUp();
    for (let n = 0; n < 3; n++) recorder.record(ConfigMap, object, broken);
    expect(await sent()).toEqual(['new Broken']);
    expect((transport.sent(0) as Event).series).toMatchObject({ count: 3 });
    for (let n = 0; n < 2; n++) recorder.record(ConfigMap, object, broken);
    expect(await sent()).toEqual(['count 5']);
  });

  it('continues after a failure, and logs a missing permission once', async () => {
    const forbidden: ScriptedResponse = { status: 403, body: { kind: 'Status', reason: 'Forbidden' } };
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
    const { recorder, sent } = setUp([forbidden, { error: new Error('cut off') }, forbidden], { log });
    for (const reason of ['A', 'B', 'C', 'D']) recorder.record(ConfigMap, object, { ...ready, reason });
    expect(await sent()).toEqual(['new A', 'new B', 'new C', 'new D']);
    expect(warnings).toHaveLength(2);
  });

  it('truncates notes to the limit of the API and names events after their object', async () => {
    const { recorder, sent, transport } = setUp();
    const long = { metadata: { ...object.metadata, name: `${'n'.repeat(240)}.${'m'.repeat(12)}` } };
    recorder.record(ConfigMap, long, { ...ready, note: 'ü'.repeat(1_000), action: 'A'.repeat(200) });
    await sent();
    const event = transport.sent(0) as Event;
    expect(Buffer.byteLength(event.note ?? '')).toBeLessThanOrEqual(1024);
    expect(event.note).toMatch(/^ü+…$/);
    expect(event.action).toHaveLength(128);
    expect(event.metadata?.name?.length).toBeLessThanOrEqual(253);
    expect(event.metadata?.name).toMatch(/^n+\.[0-9a-f]+$/);
  });

  it('stops waiting for a server that does not respond when the drain timeout has passed', async () => {
    const clock = new VirtualClock();
    const never = createClient({
      transport: {
        host: 'silent',
        request: ({ signal }) =>
          new Promise((_, reject) => {
            signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
          }),
        close: () => Promise.resolve(),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      },
    });
    const recorder = new EventRecorder({ client: never, controller: 'c', instance: 'i', clock, drainMs: 500 });
    const stop = new AbortController();
    for (const reason of ['A', 'B']) recorder.record(ConfigMap, object, { ...ready, reason });
    const running = recorder.run(stop.signal);
    stop.abort();
    await clock.advance(500);
    await running;
  });

  it('sends events while it runs', async () => {
    const { recorder, transport } = setUp();
    const stop = new AbortController();
    const running = recorder.run(stop.signal);
    recorder.record(ConfigMap, object, ready);
    recorder.record(ConfigMap, object, broken);
    stop.abort();
    await running;
    expect(transport.requests).toHaveLength(2);
  });
});
