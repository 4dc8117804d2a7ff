import { describe, expect, it } from 'vitest';
import { type Log, silentLog } from '../observability/log.ts';
import { described, Harness, summaries, summary } from './harness.test-support.ts';
import { statusOf } from './watch-server.test-support.ts';

const x = { namespace: 'a', name: 'x' };
const y = { namespace: 'a', name: 'y' };
const z = { namespace: 'b', name: 'z' };

describe('rule 12: stopping', () => {
  it.each([
    ['before the first response', (harness: Harness) => (harness.server.script = () => 'hang')],
    ['while watching', () => undefined],
    ['while waiting for the next attempt', (harness: Harness) => (harness.server.script = () => 'refuse')],
  ])('stops %s, without a request afterwards', async (_, prepare) => {
    const harness = new Harness();
    prepare(harness);
    const { informer } = harness.watch();
    await harness.run();
    await harness.stop();
    const requests = harness.server.requests.length;
    await harness.clock.advance(600_000);
    expect(harness.server.requests).toHaveLength(requests);
    expect(harness.server.watches.size).toBe(0);
    expect(harness.clock.pendingTimers).toBe(0);
    expect(informer.health().state).toBe('stopped');
  });

  it('does not open a watch after a list during which it was stopped', async () => {
    const harness = new Harness();
    harness.server.watchList = 'refused';
    harness.server.script = ({ verb }) => (verb === 'list' ? 'hang' : undefined);
    harness.watch();
    await harness.run();
    expect(summaries(harness)).toEqual(['watch list', 'list rv=0 limit=500']);
    await harness.stop();
    await harness.clock.advance(60_000);
    expect(harness.server.requests).toHaveLength(2);
  });
});

describe('rule 13: deletions detected by a relist', () => {
  it('reports them with the last known object, marked as stale', async () => {
    await using harness = new Harness();
    harness.server.put(x, { data: { n: '1' } });
    harness.server.put(y);
    const { informer, events } = harness.watch();
    await harness.run();
    harness.server.onlyWatch.freeze();
    harness.server.remove(x);
    harness.server.history.compact(harness.server.history.current);
    await harness.clock.advance(120_000);
    expect(informer.get(x)).toBeUndefined();
    expect(events.slice(2).map(described)).toEqual(['delete a/x (initial, stale)']);
    expect(events[2]?.previous?.data).toEqual({ n: '1' });
    expect(informer.health()).toMatchObject({ relists: 1, expired: 1 });
  });

  it('reports a recreated object as a deletion and an addition', async () => {
    await using harness = new Harness();
    harness.server.put(x);
    const { events } = harness.watch();
    await harness.run();
    harness.server.onlyWatch.freeze();
    harness.server.remove(x);
    harness.server.put(x);
    harness.server.history.compact(harness.server.history.current);
    await harness.clock.advance(120_000);
    expect(events.slice(1).map(described)).toEqual(['delete a/x (initial, stale)', 'add a/x (initial)']);
  });

  it('reports nothing about unchanged objects', async () => {
    await using harness = new Harness();
    harness.server.put(x);
    const { informer, events } = harness.watch();
    await harness.run();
    const before = informer.get(x);
    harness.server.onlyWatch.error(statusOf(410, 'Expired'));
    await harness.clock.advance(1_000);
    expect(informer.health().relists).toBe(1);
    expect(events).toHaveLength(1);
    expect(informer.get(x)).toBe(before);
  });
});

describe('silence', () => {
  it('abandons a connection that is inactive for 70 s and resumes', async () => {
    await using harness = new Harness({ bookmarkEveryMs: Number.POSITIVE_INFINITY });
    const { informer } = harness.watch();
    await harness.run();
    harness.server.onlyWatch.freeze();
    harness.server.put(x);
    await harness.clock.advance(69_000);
    expect(informer.get(x)).toBeUndefined();
    await harness.clock.advance(2_000);
    expect(informer.get(x)).toBeDefined();
    expect(informer.health().reconnects.idle).toBe(1);
  });

  it('keeps a quiet watch whose PINGs are acknowledged, with or without bookmarks', async () => {
    await using harness = new Harness({ bookmarkEveryMs: Number.POSITIVE_INFINITY });
    harness.watch();
    await harness.run();
    await harness.clock.advance(290_000);
    expect(harness.server.requests).toHaveLength(1);
  });
});

describe('a history that went back', () => {
  it('detects a restored server before it watches from a version that the server has lost', async () => {
    await using harness = new Harness();
    harness.server.put(x, { data: { n: 'kept' } });
    const { version } = { version: harness.server.history.current };
    const { informer, events } = harness.watch();
    await harness.run();
    harness.server.put(x, { data: { n: 'lost' } });
    harness.server.put(y);
    await harness.settle();
    harness.server.restore(version);
    await harness.clock.advance(5_000);
    expect(informer.get(x)?.data).toEqual({ n: 'kept' });
    expect(informer.get(y)).toBeUndefined();
    expect(informer.health().rewinds).toBe(1);
    expect(events.slice(-2).map(described)).toEqual(['delete a/y (initial, stale)', 'update a/x (initial)']);

    harness.server.put(z);
    await harness.settle();
    expect(informer.get(z)).toBeDefined();
  });

  it('never stores an older state that a server sends unexpectedly', async () => {
    await using harness = new Harness();
    harness.server.put(x);
    harness.server.put(x);
    const { informer, events } = harness.watch();
    await harness.run();
    const old = harness.server.history.at(1001).get('a/x');
    harness.server.onlyWatch.raw(`${JSON.stringify({ type: 'MODIFIED', object: old })}\n`);
    await harness.clock.advance(2_000);
    expect(informer.get(x)?.metadata?.resourceVersion).toBe('1002');
    expect(events).toHaveLength(1);
    expect(informer.health()).toMatchObject({ state: 'watching', rewinds: 0, reconnects: { rewound: 1 } });
  });

  it("checks the server's version once per resumed watch, and never after fetching the newest state", async () => {
    await using harness = new Harness();
    harness.watch();
    await harness.run();
    expect(harness.server.requests.map(summary)).toEqual(['watch list']);
    await harness.clock.advance(2_000);
    harness.server.onlyWatch.close();
    await harness.settle();
    expect(harness.server.requests.map(summary).slice(1)).toEqual(['watch rv=1000', 'list limit=1']);
  });

  it('continues without that check where lists are forbidden, and retries it soon', async () => {
    await using harness = new Harness();
    harness.watch();
    await harness.run();
    await harness.clock.advance(2_000);
    harness.server.script = ({ verb }) => (verb === 'list' ? { status: 403 } : undefined);
    harness.server.onlyWatch.close();
    await harness.settle();
    expect(harness.cache.health()[0]?.state).toBe('watching');
    harness.server.onlyWatch.close();
    await harness.clock.advance(2_000);
    expect(harness.server.requests.filter(({ verb }) => verb === 'watch').at(-1)?.query.timeoutSeconds).toBe('30');
  });
});

describe('an outage in the log', () => {
  it('is logged once until the watch works again, regardless of the number of attempts', async () => {
    const logged: string[] = [];
    const log: Log = { ...silentLog, info: (message) => logged.push(message), with: () => log };
    await using harness = new Harness({ log });
    harness.server.script = () => 'refuse';
    harness.watch();
    await harness.run();
    await harness.clock.advance(300_000);
    expect(harness.server.requests.length).toBeGreaterThan(5);
    expect(logged).toEqual(['a watch was interrupted and will be resumed']);
  });
});
