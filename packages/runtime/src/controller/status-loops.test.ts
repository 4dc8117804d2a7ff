import { Event } from '@bowline/kubernetes/events-v1';
import { s } from '@bowline/machinery/schema';
import { describe, expect, it } from 'vitest';
import { defineResource } from '../resource/define-resource.ts';
import { MemoryApiServer } from '../testing/memory-api-server.ts';
import { controller } from './builder.ts';
import type { Controller } from './controller.ts';
import { slow } from './reconcile-error.ts';
import { collectingLog, runController } from './run-controller.test-support.ts';

const Probe = defineResource({
  group: 'loops.test.bowline.dev',
  version: 'v1',
  kind: 'Probe',
  scope: 'Namespaced',
  spec: s.object({ text: s.string() }),
  status: s.object({ checked: s.integer().optional() }),
});

const key = { namespace: 'default', name: 'a' };
const probe = (text: string) => Probe.withDefaults({ metadata: key, spec: { text } });

async function setUp(declared: Controller<never>) {
  const server = new MemoryApiServer();
  server.serve(Probe);
  server.serve(Event);
  server.put(Probe, probe('first'));
  const lines: string[] = [];
  const run = await runController(declared, { server, log: collectingLog(lines, 'info', 'warn') });
  await run.steady();
  return { ...run, lines };
}

describe('a status that changes in every run', () => {
  it('is slowed down, is logged once, does not delay other events, and is reconciled normally once it no longer changes', async () => {
    let runs = 0;
    let isSettled = false;
    const { server, clock, runner, metrics, lines, steady } = await setUp(
      controller(Probe).reconcile(({ status }) => {
        runs += 1;
        if (!isSettled) status.set({ checked: runs });
      }),
    );
    expect(runs).toBe(11);
    expect(runner.entries()).toMatchObject([{ state: 'delayed', readyInMs: 1_000 }]);
    await clock.advance(1_000);
    await steady();
    expect(runs).toBe(12);
    expect(runner.entries()).toMatchObject([{ state: 'delayed', readyInMs: 2_000 }]);

    server.put(Probe, { ...server.get(Probe, key), ...probe('second'), metadata: { ...key, generation: 2 } });
    await steady();
    expect(runs).toBe(13);
    await clock.advance(300_000);
    await steady();

    const said = 'status changes in every run, slowing down';
    expect(lines.filter((line) => line === said)).toEqual([said]);
    expect(server.all(Event)).toMatchObject([
      {
        type: 'Warning',
        reason: 'StatusNotSettling',
        note: expect.stringMatching(/^status\.checked changes in every/),
      },
    ]);
    expect(await metrics.render()).toContain('bowline_status_loops_total{controller="probe"} 1');

    isSettled = true;
    await clock.advance(600_000);
    await steady();
    expect(lines.at(-1)).toBe('status no longer changes in every run');
    expect(runner.entries()).toEqual([]);
  });

  it('is distinguished from a status that changes a few times, and from one that a timer changes', async () => {
    let runs = 0;
    const { clock, lines, steady } = await setUp(
      controller(Probe).reconcile(({ status, clock }) => {
        runs += 1;
        status.set({ checked: runs < 8 ? runs : Math.floor(clock.now() / 60_000) });
        return { requeueAfterMs: 60_000 };
      }),
    );
    for (let minute = 0; minute < 30; minute++) {
      await clock.advance(60_000);
      await steady();
    }
    // Each minute causes a run of the timer and one of the patch.
    expect(runs).toBeGreaterThan(60);
    expect(lines).toEqual(['controller started']);
  });
});

describe('a slow failure', () => {
  it('keeps its schedule regardless of events, including that of its own status patch', async () => {
    const seen: string[] = [];
    const { server, clock, runner, steady } = await setUp(
      controller(Probe).reconcile(({ attempt, causes }) => {
        seen.push(`${attempt} ${causes.map(({ by }) => by).join(' ')}`);
        throw slow('NotYet', 'not yet', { minMs: 30_000, maxMs: 600_000 });
      }),
    );
    for (let second = 0; second < 5; second++) {
      await clock.advance(1_000);
      const stored = server.get(Probe, key);
      server.put(Probe, { ...probe('x'), ...stored, metadata: { ...key, labels: { second: String(second) } } });
      await steady();
    }
    expect(runner.entries()).toMatchObject([{ state: 'delayed', failures: 1, readyInMs: 23_500 }]);
    expect(seen).toEqual(['1 watch', ...Array.from({ length: 6 }, () => '2 watch')]);
    await clock.advance(23_500);
    await steady();
    expect(seen.at(-1)).toBe('2 retry');
    expect(runner.entries()).toMatchObject([{ failures: 2, readyInMs: 57_000 }]);
  });
});
