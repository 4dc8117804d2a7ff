import { VirtualClock } from '@bowline/machinery';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Queue } from './queue.ts';

/** Waiting is a key that waits for a run, in the simplest form that follows the rules. */
interface Waiting {
  priority: number;
  at: number;
  /** When it started to wait for that time: of two keys with the same time the earlier one goes first. */
  turn: number;
  /** Rank among ready keys of one priority: when it became ready, or was raised. Undefined until its time has come. */
  rank: number | undefined;
}

/** Model implements the queue's rules as naively as possible: maps, and a scan for the best key at each step. */
class Model {
  now = 0;
  #rank = 0;
  readonly waiting = new Map<string, Waiting>();
  readonly running = new Map<string, { priority: number; next: Waiting | undefined }>();
  readonly failures = new Map<string, { count: number; due: number }>();

  add(key: string, priority: number, afterMs: number): void {
    const at = this.now + afterMs;
    const running = this.running.get(key);
    const existing = running ? running.next : this.waiting.get(key);
    if (existing === undefined) {
      const fresh = { priority, at, turn: this.#rank++, rank: undefined };
      if (running) running.next = fresh;
      else this.waiting.set(key, fresh);
    } else {
      if (priority > existing.priority) {
        existing.priority = priority;
        if (existing.rank !== undefined) existing.rank = this.#rank++;
      }
      if (at < existing.at) {
        existing.at = at;
        existing.turn = this.#rank++;
      }
    }
    this.settle();
  }

  settle(): void {
    const due = [...this.waiting.values()].filter((entry) => entry.rank === undefined && entry.at <= this.now);
    for (const entry of due.sort((a, b) => a.at - b.at || a.turn - b.turn)) entry.rank = this.#rank++;
  }

  take(): string | undefined {
    const ready = [...this.waiting].filter(([, entry]) => entry.rank !== undefined);
    ready.sort(([, a], [, b]) => b.priority - a.priority || (a.rank ?? 0) - (b.rank ?? 0));
    const best = ready[0];
    if (best === undefined) return undefined;
    this.waiting.delete(best[0]);
    this.running.set(best[0], { priority: best[1].priority, next: undefined });
    return best[0];
  }

  done(key: string): void {
    const next = this.running.get(key)?.next;
    this.running.delete(key);
    if (next) this.waiting.set(key, { ...next, turn: this.#rank++ });
    this.settle();
  }

  retry(key: string): number {
    const before = this.failures.get(key);
    const count = (before?.count ?? 0) + 1;
    const isEarly = before !== undefined && before.due > this.now;
    const due = isEarly ? before.due : this.now + Math.min(1_000_000, 5 * 2 ** (count - 1));
    this.failures.set(key, { count: isEarly ? before.count : count, due });
    const delay = due - this.now;
    this.add(key, this.running.get(key)?.priority ?? 0, delay);
    return delay;
  }
}

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      key,
      priority: fc.constantFrom(-100, 0, 5),
      afterMs: fc.constantFrom(0, 0, 3, 10, 40),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('done' as const), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fail' as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 30 }) }) },
);

/** Advances without running timers, so that thousands of histories are quick; the unit tests cover timers. */
class StillClock extends VirtualClock {
  at = 0;
  override monotonic(): number {
    return this.at;
  }
}

it('behaves like a naive model for any sequence of operations', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const clock = new StillClock();
      const queue = new Queue({ name: 'model', clock, random: { next: () => 0 } });
      const model = new Model();
      for (const s of steps) {
        switch (s.do) {
          case 'add':
            queue.add(s.key, { priority: s.priority, afterMs: s.afterMs });
            model.add(s.key, s.priority, s.afterMs);
            break;
          case 'take':
            expect(queue.take()?.key).toBe(model.take());
            break;
          case 'done':
          case 'fail':
            if (!model.running.has(s.key)) break;
            if (s.do === 'fail') expect(queue.retry(s.key)).toBe(model.retry(s.key));
            queue.done(s.key);
            model.done(s.key);
            break;
          case 'forget':
            queue.forget(s.key);
            model.failures.delete(s.key);
            break;
          case 'advance':
            clock.at += s.ms;
            model.now += s.ms;
            model.settle();
            break;
        }
        expect(queue.size).toBe(model.waiting.size + model.running.size);
        expect(queue.depth).toBe([...model.waiting.values()].filter((entry) => entry.rank !== undefined).length);
      }
      // No key is lost: with enough time and workers, every waiting key is handed out, in the model's order.
      for (const running of [...model.running.keys()]) {
        queue.done(running);
        model.done(running);
      }
      clock.at += 2_000_000;
      model.now += 2_000_000;
      model.settle();
      for (let expected = model.take(); expected; expected = model.take()) expect(queue.take()?.key).toBe(expected);
      expect(queue.take()).toBeUndefined();
    }),
    { numRuns: 1000 },
  );
});
