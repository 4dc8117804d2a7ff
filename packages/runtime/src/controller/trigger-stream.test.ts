import { EventEmitter, on } from 'node:events';
import { ConfigMap, type ObjectKey, Secret } from '@bowline/kubernetes';
import { untilAborted } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { describeCause } from '../queue/cause.ts';
import { MemoryApiServer } from '../testing/memory-api-server.ts';
import { controller, keyed } from './builder.ts';
import { collectingLog, runController } from './run-controller.test-support.ts';

/** A stream that a test writes to. */
class Messages {
  readonly #emitter = new EventEmitter();
  opened = 0;

  send(value: unknown): void {
    this.#emitter.emit('message', value);
  }

  fail(): void {
    this.#emitter.emit('error', new Error('the connection is gone'));
  }

  async *keys<Key>(signal: AbortSignal): AsyncGenerator<Key> {
    this.opened += 1;
    for await (const [key] of on(this.#emitter, 'message', { signal, close: ['end'] })) yield key as Key;
  }

  end(): void {
    this.#emitter.emit('end');
  }
}

describe('a trigger', () => {
  it('enqueues the keys of its stream, each with its cause, and skips those without an object', async () => {
    const sent = new Messages();
    const server = new MemoryApiServer();
    server.put(ConfigMap, { metadata: { namespace: 'default', name: 'a' } });
    const seen: string[] = [];
    const { settled, metrics } = await runController(
      controller(ConfigMap)
        .using<{ messages: Messages }>()
        .triggeredBy('queue', (signal, { messages }) => messages.keys<ObjectKey>(signal))
        .reconcile(({ key, causes }) => void seen.push(`${key.name}: ${causes.map(describeCause).join()}`)),
      { server, deps: { messages: sent } },
    );
    for (const name of ['a', 'missing']) sent.send({ namespace: 'default', name });
    await settled();
    expect(seen).toEqual(['a: add of ConfigMap default/a', 'a: triggered by queue']);
    expect(await metrics.render()).toContain('bowline_trigger_keys_total{controller="configmap",trigger="queue"} 2');
  });

  it('is sufficient as the only source of a keyed controller', async () => {
    const sent = new Messages();
    const seen: string[] = [];
    const { settled } = await runController(
      keyed('devices')
        .triggeredBy('bus', (signal) => sent.keys<string>(signal))
        .reconcile(({ key }) => void seen.push(key)),
    );
    for (const key of ['usb-1', 'usb-2']) sent.send(key);
    await settled();
    expect(seen).toEqual(['usb-1', 'usb-2']);
  });

  it('is reopened with a backoff when it fails or ends, which is logged once', async () => {
    const lines: string[] = [];
    const seen: string[] = [];
    const sent = new Messages();
    const { clock, settled, metrics } = await runController(
      keyed('devices')
        .triggeredBy('bus', (signal) => sent.keys<string>(signal))
        .reconcile(({ key }) => void seen.push(key)),
      { log: collectingLog(lines, 'warn', 'error') },
    );
    expect(sent.opened).toBe(1);
    sent.fail();
    await settled();
    await clock.advance(749);
    expect(sent.opened).toBe(1);
    await clock.advance(1);
    expect(sent.opened).toBe(2);
    sent.end();
    await settled();
    await clock.advance(1_499);
    expect(sent.opened).toBe(2);
    await clock.advance(1);
    expect(sent.opened).toBe(3);
    sent.send('x');
    await settled();
    expect(seen).toEqual(['x']);
    expect(lines).toEqual(['trigger failed, reopening it']);
    // It was healthy for a while: the next failure counts as the first one.
    await clock.advance(60_000);
    sent.fail();
    await settled();
    await clock.advance(750);
    expect(sent.opened).toBe(4);
    expect(lines).toHaveLength(2);
    expect(await metrics.render()).toContain('bowline_trigger_errors_total{controller="devices",trigger="bus"} 3');
  });

  it('may fail to open its stream or yield values that are not keys without stopping the controller', async () => {
    const lines: string[] = [];
    const seen: string[] = [];
    const sent = new Messages();
    const { settled } = await runController(
      keyed('devices')
        .triggeredBy('broken', () => {
          throw new Error('cannot open');
        })
        .triggeredBy('bus', (signal) => sent.keys<string>(signal))
        .reconcile(({ key }) => void seen.push(key)),
      { log: collectingLog(lines, 'warn', 'error') },
    );
    for (const value of ['', 'k'.repeat(2_000), 7, null, { namespace: 1, name: 'x' }, 'good']) sent.send(value);
    await settled();
    expect(seen).toEqual(['good']);
    expect(lines.filter((line) => line === 'trigger yielded a value that is not a key')).toHaveLength(5);
  });

  it('is not read while the queue is long, and continues when it is shorter', async () => {
    let taken = 0;
    const start = new AbortController();
    const release = new AbortController();
    const released = untilAborted(release.signal);
    const { until, runner } = await runController(
      keyed('many', { concurrency: 100 })
        .triggeredBy('flood', async function* (signal) {
          await untilAborted(start.signal);
          while (taken < 25_000) yield `key-${taken++}`;
          await untilAborted(signal);
        })
        .reconcile(() => released),
    );
    start.abort();
    await until(() => runner.entries(20_000).length === 10_000);
    expect(taken).toBe(10_000);
    release.abort();
    await until(() => taken === 25_000 && runner.entries().length === 0);
  });

  it('ends with the controller even if it ignores its signal', async () => {
    const lines: string[] = [];
    let isClosed = false;
    const sent = new Messages();
    const { clock, stop, running, until } = await runController(
      keyed('devices')
        .triggeredBy('deaf', async function* () {
          await new Promise(() => undefined);
          yield 'never';
        })
        .triggeredBy('bus', async function* (signal) {
          try {
            yield* sent.keys<string>(signal);
          } finally {
            isClosed = true;
          }
        })
        .watches(Secret, { map: () => [] })
        .reconcile(() => undefined),
      { log: collectingLog(lines, 'warn') },
    );
    stop.abort();
    await until(() => isClosed);
    await clock.advance(5_000);
    await running;
    expect(lines).toEqual(['trigger did not end after its signal was aborted']);
  });
});
