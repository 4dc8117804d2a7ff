import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { createMetrics } from '../observability/create-metrics.ts';
import type { Fields, Log } from '../observability/log.ts';
import { Queue } from '../queue/queue.ts';
import { ControllerMetrics } from './controller-metrics.ts';
import { slow, terminal } from './reconcile-error.ts';
import { Reconciler } from './reconciler.ts';
import type { Run } from './run.ts';

class Lines implements Log {
  readonly lines: { level: string; message: string; fields: Fields }[] = [];
  readonly #add =
    (level: string) =>
    (message: string, fields: Fields = {}) => {
      this.lines.push({ level, message, fields });
    };
  debug = this.#add('debug');
  info = this.#add('info');
  warn = this.#add('warn');
  error = this.#add('error');
  with(): Log {
    return this;
  }
}

function setUp(work: (run: Run) => unknown, options: { concurrency?: number; timeoutMs?: number } = {}) {
  const clock = new VirtualClock();
  const registry = createMetrics({ process: false });
  const log = new Lines();
  const queue = new Queue({ name: 'test', clock, random: { next: () => 0 }, metrics: registry });
  const reconciler: Reconciler = new Reconciler({
    queue,
    concurrency: options.concurrency ?? 1,
    timeoutMs: options.timeoutMs ?? 300_000,
    clock,
    log,
    idPrefix: 'r',
    metrics: new ControllerMetrics(registry, 'test', options.concurrency ?? 1, {
      activeWorkers: () => reconciler.active,
      overdue: () => reconciler.overdue,
      paused: () => 0,
      unmapped: () => 0,
    }),
    begin: (run) => () => work(run),
    describe: (key) => ({ key }),
  });
  const running = reconciler.run();
  const metric = async (name: string): Promise<number> => {
    const line = (await registry.render()).split('\n').find((each) => each.startsWith(`${name} `));
    if (line === undefined) throw new Error(`no series ${name}`);
    return Number(line.split(' ').at(-1));
  };
  return { clock, queue, reconciler, running, log, metric };
}

const result = (name: string): string => `controller_runtime_reconcile_total{controller="test",result="${name}"}`;
const of = (name: string): string => `${name}{controller="test"}`;

/** A promise that a test resolves when it chooses. */
function open() {
  let close: () => void = () => {};
  const promise = new Promise<void>((resolve) => {
    close = resolve;
  });
  return { promise, close };
}

describe('Reconciler', () => {
  it('exports every series at zero from the start', async () => {
    const { metric } = setUp(() => {});
    for (const name of ['success', 'error', 'requeue', 'requeue_after']) expect(await metric(result(name))).toBe(0);
    for (const name of ['reconcile_errors', 'terminal_reconcile_errors', 'reconcile_panics', 'reconcile_timeouts']) {
      expect(await metric(of(`controller_runtime_${name}_total`))).toBe(0);
    }
    expect(await metric(of('controller_runtime_max_concurrent_reconciles'))).toBe(1);
    expect(await metric(of('controller_runtime_active_workers'))).toBe(0);
    const queue = '{name="test",controller="test"}';
    for (const name of [
      'adds_total',
      'retries_total',
      'unfinished_work_seconds',
      'longest_running_processor_seconds',
    ]) {
      expect(await metric(`workqueue_${name}${queue}`)).toBe(0);
    }
    expect(await metric('workqueue_depth{name="test",controller="test",priority="-100"}')).toBe(0);
    expect(await metric(`workqueue_queue_duration_seconds_count${queue}`)).toBe(0);
    expect(await metric(`workqueue_work_duration_seconds_count${queue}`)).toBe(0);
    expect(await metric(of('controller_runtime_reconcile_time_seconds_count'))).toBe(0);
  });

  it('processes up to the configured number of keys concurrently, and never one key twice at a time', async () => {
    const gates = new Map<string, ReturnType<typeof open>>();
    const started: string[] = [];
    const { clock, queue, metric } = setUp(
      ({ item }) => {
        started.push(item.key);
        const gate = open();
        gates.set(item.key, gate);
        return gate.promise;
      },
      { concurrency: 2 },
    );
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await clock.advance(1000);
    queue.add('a');
    await clock.advance(1000);
    expect(started).toEqual(['a', 'b']);
    expect(await metric(of('controller_runtime_active_workers'))).toBe(2);
    expect(await metric('workqueue_unfinished_work_seconds{name="test",controller="test"}')).toBe(4);
    expect(await metric('workqueue_longest_running_processor_seconds{name="test",controller="test"}')).toBe(2);
    expect(await metric('workqueue_depth{name="test",controller="test",priority="0"}')).toBe(1);
    gates.get('a')?.close();
    await clock.advance(0);
    expect(started).toEqual(['a', 'b', 'c']);
    gates.get('b')?.close();
    await clock.advance(0);
    expect(started).toEqual(['a', 'b', 'c', 'a']);
  });

  it('counts a return without a result as success and forgets earlier failures', async () => {
    let attempts = 0;
    const { clock, queue, metric, log } = setUp(() => {
      if (++attempts === 1) throw new Error('once');
    });
    queue.add('a');
    await clock.advance(5);
    expect(attempts).toBe(2);
    expect(await metric(result('success'))).toBe(1);
    expect(await metric(result('error'))).toBe(1);
    queue.add('a');
    await clock.advance(0);
    expect(queue.entries()).toEqual([]);
    expect(log.lines.filter((line) => line.level === 'error')).toHaveLength(1);
  });

  it('retries a failed key with increasing delays, and logs each failure once with its causes', async () => {
    const times: number[] = [];
    const { clock, queue, log, metric } = setUp(() => {
      times.push(clock.monotonic());
      throw new Error('broken');
    });
    queue.add('a', { cause: { by: 'enqueue', source: 'test' } });
    await clock.advance(5 + 10 + 20);
    expect(times).toEqual([0, 5, 15, 35]);
    const errors = log.lines.filter((line) => line.level === 'error');
    expect(errors).toHaveLength(4);
    expect(errors[0]).toMatchObject({
      message: 'reconcile failed',
      fields: { key: 'a', reconcileId: 'r-1', attempt: 1, retryInMs: 5, causes: [{ by: 'enqueue', source: 'test' }] },
    });
    expect(errors[1]?.fields).toMatchObject({ attempt: 2, causes: [{ by: 'retry', attempt: 2 }] });
    expect(await metric('workqueue_retries_total{name="test",controller="test"}')).toBe(4);
  });

  it('yields to the event loop during any number of reconciles that await nothing', async () => {
    let runs = 0;
    const { queue } = setUp(() => void runs++, { concurrency: 4 });
    for (let n = 0; n < 10_000; n++) queue.add(`key-${n}`);
    const runsAtTurns: number[] = [];
    while (runs < 10_000) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      runsAtTurns.push(runs);
    }
    const longest = Math.max(...runsAtTurns.map((at, turn) => at - (runsAtTurns[turn - 1] ?? 0)));
    expect(longest).toBeLessThan(200);
  });

  it('continues with other keys when one throws', async () => {
    const done: string[] = [];
    const { clock, queue } = setUp(({ item }) => {
      if (item.key === 'bad') throw new Error('always');
      done.push(item.key);
    });
    for (const key of ['bad', 'a', 'b']) queue.add(key);
    await clock.advance(0);
    expect(done).toEqual(['a', 'b']);
  });

  it.each([
    ['a string', 'text', /threw a value that is not an Error: text/],
    ['undefined', undefined, /a value of type undefined/],
    ['null', null, /a value of type null/],
    ['an object, without quoting its content', { password: 'canary' }, /a value of type object$/],
  ])('counts a thrown value as an error and a panic: %s', async (_, thrown, text) => {
    const { clock, queue, log, metric } = setUp(() => Promise.reject(thrown));
    queue.add('a');
    await clock.advance(0);
    expect(log.lines[0]?.fields.error).toHaveProperty('message', expect.stringMatching(text));
    expect(JSON.stringify(log.lines)).not.toContain('canary');
    expect(await metric(of('controller_runtime_reconcile_panics_total'))).toBe(1);
    expect(queue.entries()).toMatchObject([{ state: 'delayed', failures: 1 }]);
  });

  it('requeues after the requested time, without failures and with the same priority', async () => {
    let runs = 0;
    const { clock, queue, metric } = setUp(() => (++runs === 1 ? { requeueAfterMs: 60_000 } : undefined));
    queue.add('a', { priority: -100 });
    await clock.advance(0);
    expect(queue.entries()).toMatchObject([
      {
        state: 'delayed',
        readyInMs: 60_000,
        priority: -100,
        failures: 0,
        causes: [{ by: 'requeue', afterMs: 60_000 }],
      },
    ]);
    await clock.advance(60_000);
    expect(runs).toBe(2);
    expect(await metric(result('requeue_after'))).toBe(1);
  });

  it('slows down a reconcile that always requeues immediately', async () => {
    const times: number[] = [];
    const { clock, queue, metric } = setUp(() => {
      times.push(clock.monotonic());
      return { requeueAfterMs: 0 };
    });
    queue.add('a');
    await clock.advance(20);
    expect(times).toEqual([0, 5, 15]);
    expect(await metric(result('requeue'))).toBe(3);
  });

  it('rejects a requeueAfterMs that is not a number', async () => {
    const { clock, queue, log } = setUp(() => ({ requeueAfterMs: Number.NaN }));
    queue.add('a');
    await clock.advance(0);
    expect(log.lines[0]?.fields.error).toMatchObject({ code: 'BOWLINE_RECONCILE_RESULT' });
  });

  it('does not retry a terminal error, but reconciles again after an event', async () => {
    let runs = 0;
    const { clock, queue, log, metric } = setUp(() => {
      runs++;
      throw terminal('InvalidSpec', 'spec.size must be positive');
    });
    queue.add('a');
    await clock.advance(10_000_000);
    expect(runs).toBe(1);
    expect(log.lines[0]?.fields.error).toMatchObject({ code: 'BOWLINE_RECONCILE_TERMINAL', reason: 'InvalidSpec' });
    expect(await metric(of('controller_runtime_terminal_reconcile_errors_total'))).toBe(1);
    queue.add('a');
    await clock.advance(0);
    expect(runs).toBe(2);
  });

  it('retries a slow error within its own bounds', async () => {
    const times: number[] = [];
    const { clock, queue } = setUp(() => {
      times.push(clock.monotonic());
      throw slow('SourceMissing', 'not available yet', { minMs: 30_000, maxMs: 40_000 });
    });
    queue.add('a');
    await clock.advance(110_000);
    expect(times).toEqual([0, 30_000, 70_000, 110_000]);
  });

  it('retries slowly when an object is not ours', async () => {
    const times: number[] = [];
    const { clock, queue } = setUp(() => {
      times.push(clock.monotonic());
      throw new BowlineError('BOWLINE_FOREIGN_OBJECT', 'it exists and is not ours');
    });
    queue.add('a');
    await clock.advance(300_000);
    expect(times).toEqual([0, 5_000, 15_000, 35_000, 75_000, 155_000, 275_000]);
  });

  it('retries a conflict quickly without logging an error, until there are too many in a row', async () => {
    const conflict = new ApiError({ request: { verb: 'update', path: '/api/v1/namespaces/a' }, status: 409 });
    const { clock, queue, log, metric } = setUp(() => Promise.reject(conflict));
    queue.add('a');
    await clock.advance(3_274);
    expect(await metric(result('requeue'))).toBe(10);
    expect(log.lines.every((line) => line.level === 'debug')).toBe(true);
    await clock.advance(1_000);
    expect(await metric(result('error'))).toBe(1);
    expect(log.lines.at(-1)).toMatchObject({ level: 'error', message: 'reconcile failed' });
  });

  describe('when a reconcile times out', () => {
    it('gives its slot to another key, aborts its signal, and keeps its key blocked and reported until it returns', async () => {
      const gate = open();
      const done: string[] = [];
      let reason: unknown;
      const { clock, queue, reconciler, metric, log } = setUp((run) => {
        if (run.item.key !== 'stuck') return void done.push(run.item.key);
        run.signal.addEventListener('abort', () => {
          reason = run.signal.reason;
        });
        return gate.promise;
      });
      queue.add('stuck');
      queue.add('next');
      await clock.advance(299_999);
      expect(done).toEqual([]);
      await clock.advance(1);
      expect(done).toEqual(['next']);
      expect(reason).toMatchObject({ code: 'BOWLINE_RECONCILE_TIMEOUT' });
      expect(await metric(of('controller_runtime_reconcile_timeouts_total'))).toBe(1);
      expect(await metric(of('bowline_reconciles_overdue'))).toBe(1);
      expect(await metric(of('controller_runtime_active_workers'))).toBe(0);

      queue.add('stuck');
      await clock.advance(600_000);
      expect(reconciler.overdueKeys()).toEqual(['stuck']);
      expect(queue.entries()).toMatchObject([{ key: 'stuck', state: 'running', runningForMs: 900_000 }]);

      gate.close();
      await clock.advance(0);
      expect(reconciler.overdueKeys()).toEqual([]);
      expect(log.lines.map((line) => line.message)).toContain('reconcile returned after its timeout');
      // It was added meanwhile, so it runs again immediately; that run requests a new signal.
      expect(await metric(result('error'))).toBe(1);
      expect(await metric(result('success'))).toBe(2);
    });

    it('retries the key after a backoff once it has returned', async () => {
      const gate = open();
      let runs = 0;
      const { clock, queue } = setUp(() => (++runs === 1 ? gate.promise : undefined), { timeoutMs: 100 });
      queue.add('a');
      await clock.advance(200);
      gate.close();
      await clock.advance(4);
      expect(runs).toBe(1);
      await clock.advance(1);
      expect(runs).toBe(2);
    });
  });

  describe('stop', () => {
    it('waits for running reconciles, takes no further keys, and resolves', async () => {
      const gate = open();
      const started: string[] = [];
      const { clock, queue, reconciler, running } = setUp(({ item }) => {
        started.push(item.key);
        return gate.promise;
      });
      queue.add('a');
      queue.add('b');
      await clock.advance(0);
      const stopped = reconciler.stop(new Error('stop'), 30_000);
      gate.close();
      expect(await stopped).toEqual([]);
      await running;
      expect(started).toEqual(['a']);
      expect(clock.pendingTimers).toBe(0);
    });

    it('waits at most the drain timeout, then aborts running reconciles and returns their keys', async () => {
      let reason: unknown;
      const { clock, queue, reconciler, running } = setUp(
        (run) =>
          new Promise((_, reject) => {
            run.signal.addEventListener('abort', () => {
              reason = run.signal.reason;
              reject(reason);
            });
          }),
      );
      queue.add('a');
      await clock.advance(0);
      const why = new Error('the process ends');
      const stopped = reconciler.stop(why, 30_000);
      await clock.advance(29_999);
      expect(reason).toBeUndefined();
      await clock.advance(1);
      expect(reason).toBe(why);
      expect(await stopped).toEqual(['a']);
      await running;
    });

    it('does not wait for a reconcile that is already overdue', async () => {
      const { clock, queue, reconciler, running } = setUp(() => new Promise(() => {}), { timeoutMs: 10 });
      queue.add('a');
      await clock.advance(10);
      await reconciler.stop(new Error('stop'), 30_000);
      await running;
    });
  });
});
