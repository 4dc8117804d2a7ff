import type { Random } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import type { Fields, Log } from '../observability/log.ts';
import { described, Harness, summaries } from './harness.test-support.ts';
import { statusOf } from './watch-server.test-support.ts';

const x = { namespace: 'a', name: 'x' };
const y = { namespace: 'a', name: 'y' };
const z = { namespace: 'b', name: 'z' };

/** Jitter at its upper limit, so that delays are known. */
const longest: Random = { next: () => 0.999_999 };

describe('rule 1 and 2: the watch delivers the state', () => {
  it('requests the initial state with bookmarks, the newest one if no version is known', async () => {
    await using harness = new Harness();
    harness.watch();
    await harness.run();
    expect(harness.server.requests[0]?.query).toMatchObject({
      watch: 'true',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
    });
    expect(harness.server.requests[0]?.query.resourceVersion).toBeUndefined();
    expect(harness.server.requests).toHaveLength(1);
  });

  it('exposes nothing before the end of the initial state, then everything in one step', async () => {
    await using harness = new Harness();
    harness.server.put(x);
    harness.server.put(y);
    harness.server.endsInitialState = false;
    const { informer, events } = harness.watch();
    await harness.run();
    expect(informer.hasSynced).toBe(false);
    expect(informer.list()).toEqual([]);

    harness.server.onlyWatch.bookmark(harness.server.history.current, true);
    await harness.settle();
    expect(informer.hasSynced).toBe(true);
    expect(events.map(described).sort()).toEqual(['add a/x (initial)', 'add a/y (initial)']);
  });

  it('continues with the same watch after the end bookmark', async () => {
    await using harness = new Harness();
    const { events } = harness.watch();
    await harness.run();
    harness.server.put(x);
    harness.server.put(x);
    harness.server.remove(x);
    await harness.settle();
    expect(events.map(described)).toEqual(['add a/x', 'update a/x', 'delete a/x']);
    expect(harness.server.requests).toHaveLength(1);
  });

  it('resumes from the end bookmark, not from the highest initial object', async () => {
    await using harness = new Harness();
    harness.server.put(x);
    harness.server.history.touch(50);
    harness.watch();
    await harness.run();
    harness.server.onlyWatch.cut();
    await harness.clock.advance(1_000);
    expect(summaries(harness).at(-1)).toBe('watch rv=1051');
  });
});

describe('rule 3: servers without WatchList', () => {
  it('falls back to a list when the server rejects the request, and remembers that for the kind', async () => {
    await using harness = new Harness();
    harness.server.watchList = 'refused';
    harness.server.put(x);
    const { informer } = harness.watch();
    await harness.run();
    expect(informer.get(x)).toBeDefined();
    expect(summaries(harness)).toEqual(['watch list', 'list rv=0 limit=500', 'watch rv=1001']);

    harness.watch({ view: 'metadata' });
    await harness.settle();
    expect(summaries(harness).slice(3)).toEqual(['list rv=0 limit=500', 'watch rv=1001']);
  });

  it('tries again after an hour, because the server may have been upgraded', async () => {
    await using harness = new Harness();
    harness.server.watchList = 'refused';
    harness.watch();
    await harness.run();
    harness.server.watchList = 'supported';
    await harness.clock.advance(3_601_000);
    harness.watch({ view: 'metadata' });
    await harness.settle();
    expect(summaries(harness).at(-1)).toBe('watch list');
  });

  it('warns after 10 s without the end bookmark and lists after 30 s', async () => {
    const warnings: string[] = [];
    await using harness = new Harness({ log: logOf(warnings) });
    harness.server.put(x);
    harness.server.watchList = 'ignored';
    const { informer } = harness.watch();
    await harness.run();
    await harness.clock.advance(9_900);
    expect(warnings).toEqual([]);
    await harness.clock.advance(200);
    expect(warnings).toEqual(['the initial state of a watch has not ended for 10 s']);
    expect(informer.hasSynced).toBe(false);
    await harness.clock.advance(20_000);
    expect(informer.get(x)).toBeDefined();
    expect(informer.health().reconnects['no-end-bookmark']).toBe(1);
    expect(summaries(harness).slice(1)).toEqual(['list rv=0 limit=500', 'watch rv=1001']);
  });
});

describe('rule 4 and 5: which version a read requests', () => {
  it('lists from the last observed version, without pages, after a 410', async () => {
    await using harness = new Harness({ jitter: longest });
    harness.server.watchList = 'refused';
    harness.watch();
    await harness.run();
    harness.server.put(x);
    await harness.settle();
    harness.server.onlyWatch.error(statusOf(410, 'Expired'));
    await harness.clock.advance(1_000);
    expect(summaries(harness).slice(3, 5)).toEqual(['list rv=1001', 'watch rv=1001']);
  });

  it('requests the newest state when the list from the last version fails with 410 too', async () => {
    await using harness = new Harness({ jitter: longest });
    harness.watch();
    await harness.run();
    harness.server.script = ({ query }) => (query.resourceVersion ? { status: 410 } : undefined);
    harness.server.onlyWatch.error(statusOf(410, 'Expired'));
    await harness.clock.advance(5_000);
    expect(summaries(harness).slice(1)).toEqual(['watch list rv=1000', 'watch list']);
  });

  it('requests the newest state when the server has not reached the last version', async () => {
    await using harness = new Harness({ jitter: longest });
    harness.server.put(x);
    const { informer } = harness.watch();
    await harness.run();
    harness.server.script = ({ query }) => {
      if (query.resourceVersion === undefined) return undefined;
      const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
      return { status: 504, body: statusOf(504, 'Timeout', { causes }) };
    };
    harness.server.onlyWatch.error(statusOf(410, 'Expired'));
    await harness.clock.advance(5_000);
    expect(summaries(harness).slice(1)).toEqual(['watch list rv=1001', 'watch list']);
    expect(informer.health().state).toBe('watching');
  });

  it('reads a paged list to its end', async () => {
    await using harness = new Harness();
    harness.server.watchList = 'refused';
    for (let count = 0; count < 1_200; count++) harness.server.history.put({ namespace: 'a', name: `n${count}` }, {});
    const { informer } = harness.watch();
    // The watch cache returns a list from version 0 in one piece; the newest state comes in pages.
    harness.server.script = ({ query }) => (query.resourceVersion === '0' ? { status: 410 } : undefined);
    await harness.run();
    await harness.clock.advance(1_000);
    expect(informer.list()).toHaveLength(1_200);
    expect(summaries(harness).filter((each) => each.startsWith('list'))).toEqual([
      'list rv=0 limit=500',
      'list limit=500',
      'list limit=500 continue',
      'list limit=500 continue',
    ]);
  });

  it('starts over with one whole list when a page has expired', async () => {
    await using harness = new Harness();
    harness.server.watchList = 'refused';
    for (let count = 0; count < 600; count++) harness.server.history.put({ namespace: 'a', name: `n${count}` }, {});
    const { informer } = harness.watch();
    harness.server.script = ({ query }) =>
      query.resourceVersion === '0' || query.continue ? { status: 410, body: statusOf(410, 'Expired') } : undefined;
    await harness.run();
    await harness.clock.advance(1_000);
    expect(informer.list()).toHaveLength(600);
    expect(summaries(harness).slice(-4, -1)).toEqual(['list limit=500', 'list limit=500 continue', 'list']);
  });
});

describe('rule 6: where a watch resumes', () => {
  it.each([
    ['an addition', (harness: Harness) => harness.server.put(y), '1002'],
    ['a change', (harness: Harness) => harness.server.put(x), '1002'],
    ['a deletion', (harness: Harness) => harness.server.remove(x), '1002'],
    [
      'a bookmark',
      (harness: Harness) => {
        harness.server.history.touch(7);
        harness.server.bookmark();
      },
      '1008',
    ],
  ])('resumes after %s', async (_, change, version) => {
    await using harness = new Harness();
    harness.server.put(x);
    harness.watch();
    await harness.run();
    change(harness);
    await harness.settle();
    harness.server.onlyWatch.close();
    await harness.settle();
    expect(summaries(harness).at(-1)).toBe(`watch rv=${version}`);
  });

  it('sees changes made while no watch was open, including deletions', async () => {
    await using harness = new Harness();
    harness.server.put(x);
    harness.server.put(y);
    const { events } = harness.watch();
    await harness.run();
    harness.server.onlyWatch.cut();
    harness.server.remove(x);
    harness.server.put(y);
    harness.server.put(z);
    await harness.clock.advance(1_000);
    expect(events.slice(2).map(described)).toEqual(['delete a/x', 'update a/y', 'add b/z']);
  });
});

describe('rule 7: retries', () => {
  it.each([
    ['a refused connection', 'refuse' as const],
    ['429', { status: 429 }],
    ['500', { status: 500 }],
  ])('resumes the watch without a list after %s', async (_, scripted) => {
    await using harness = new Harness({ jitter: longest });
    harness.watch();
    await harness.run();
    harness.server.script = () => scripted;
    harness.server.onlyWatch.cut();
    await harness.clock.advance(3_000);
    harness.server.script = () => undefined;
    await harness.clock.advance(30_000);
    expect(new Set(summaries(harness).slice(1))).toEqual(new Set(['watch rv=1000']));
    expect(harness.cache.health()[0]).toMatchObject({ state: 'watching', relists: 0 });
  });

  it('waits 800 ms, doubling to 30 s, and starts over after two healthy minutes', async () => {
    await using harness = new Harness({ jitter: longest });
    harness.server.script = () => 'refuse';
    harness.watch();
    await harness.run();
    await harness.clock.advance(200_000);
    const waits = harness.server.requests.map(({ at }, index, all) => Math.round(at - (all[index - 1]?.at ?? 0)));
    expect(waits.slice(1, 9)).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);

    harness.server.script = () => undefined;
    await harness.clock.advance(30_000 + 121_000);
    harness.server.onlyWatch.cut();
    const cutAt = harness.clock.monotonic();
    await harness.clock.advance(1_000);
    expect(Math.round((harness.server.requests.at(-1)?.at ?? 0) - cutAt)).toBe(800);
  });

  it('spreads the delays of a fleet between zero and the full delay', async () => {
    await using harness = new Harness({ jitter: { next: () => 0.25 } });
    harness.server.script = () => 'refuse';
    harness.watch();
    await harness.run();
    await harness.clock.advance(5_000);
    expect(harness.server.requests[1]?.at).toBe(200);
  });

  it('waits as long as Retry-After says', async () => {
    await using harness = new Harness({ jitter: { next: () => 0 } });
    harness.server.script = () => ({ status: 429, headers: { 'retry-after': '45' } });
    harness.watch();
    await harness.run();
    await harness.clock.advance(44_000);
    expect(harness.server.requests).toHaveLength(1);
    await harness.clock.advance(1_100);
    expect(harness.server.requests).toHaveLength(2);
  });

  it('treats a watch that ends immediately without an event as a failure', async () => {
    await using harness = new Harness({ jitter: longest });
    harness.watch();
    await harness.run();
    await harness.clock.advance(2_000);
    harness.server.onlyWatch.close();
    await harness.settle();
    harness.server.onlyWatch.close();
    const requests = harness.server.requests.length;
    await harness.clock.advance(700);
    expect(harness.server.requests).toHaveLength(requests);
    expect(harness.cache.health()[0]?.reconnects).toMatchObject({ closed: 1, short: 1 });
    await harness.clock.advance(200);
    expect(harness.server.requests.length).toBeGreaterThan(requests);
  });
});

describe('rule 8: a normal end', () => {
  it('watches again immediately', async () => {
    await using harness = new Harness({ jitter: longest });
    harness.watch();
    await harness.run();
    await harness.clock.advance(2_000);
    harness.server.onlyWatch.close();
    const closedAt = harness.clock.monotonic();
    await harness.settle();
    expect(harness.server.onlyWatch).toBeDefined();
    expect(harness.server.requests.at(-1)?.at).toBe(closedAt);
    expect(harness.cache.health()[0]).toMatchObject({ state: 'watching', reconnects: { closed: 1 } });
  });

  it('sets different timeouts for watches', async () => {
    await using harness = new Harness();
    for (const namespace of ['a', 'b', 'c', 'd']) harness.watch({ namespaces: [namespace] });
    await harness.run();
    const times = harness.server.requests.map(({ query }) => Number(query.timeoutSeconds));
    expect(new Set(times).size).toBe(4);
    for (const time of times) {
      expect(time).toBeGreaterThanOrEqual(300);
      expect(time).toBeLessThanOrEqual(600);
    }
  });
});

describe('rule 9 and 10: unusable events', () => {
  it('treats an ERROR event as that status', async () => {
    await using harness = new Harness();
    const { informer } = harness.watch();
    await harness.run();
    harness.server.onlyWatch.error(statusOf(403, 'Forbidden'));
    await harness.settle();
    expect(informer.health().state).toBe('forbidden');
  });

  it('skips and counts unknown types and other kinds, and continues', async () => {
    await using harness = new Harness();
    const { informer } = harness.watch();
    await harness.run();
    harness.server.onlyWatch.raw('{"type":"RENAMED","object":{"apiVersion":"v1","kind":"ConfigMap"}}\n');
    harness.server.onlyWatch.raw('{"type":"ADDED","object":{"apiVersion":"meta.k8s.io/v1","kind":"Table"}}\n');
    harness.server.put(x);
    await harness.settle();
    expect(informer.list()).toHaveLength(1);
    expect(informer.health().skippedEvents).toBe(2);
    expect(harness.server.requests).toHaveLength(1);
  });

  it.each(['garble', 'truncate'] as const)(
    'ends the watch at a line it cannot decode (%s) and receives the event again',
    async (how) => {
      await using harness = new Harness();
      const { informer } = harness.watch();
      await harness.run();
      harness.server.onlyWatch.spoilNext(how);
      harness.server.put(x);
      await harness.clock.advance(1_000);
      expect(informer.get(x)).toBeDefined();
      expect(informer.health().decodeErrors).toBe(1);
    },
  );
});

function logOf(warnings: string[]): Log {
  const log: Log = {
    debug() {},
    info() {},
    warn: (message: string, _fields?: Fields) => void warnings.push(message),
    error() {},
    with: () => log,
  };
  return log;
}
