import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { expireEvents } from './expire-events.ts';
import { startTestServer, type TestServer } from './in-process.test-support.ts';
import { Storage } from './storage/storage.ts';

const EVENTS = '/api/v1/namespaces/default/events';
const MINUTE = 60_000;

function fail(error: unknown): never {
  throw error;
}

const post = (t: TestServer, name: string) =>
  t.call('POST', EVENTS, { metadata: { name }, involvedObject: { namespace: 'default' }, reason: 'A', type: 'Normal' });

async function names(t: TestServer): Promise<unknown[]> {
  return ((await t.call('GET', EVENTS)).body.items ?? []).map(({ metadata }) => (metadata as { name: string }).name);
}

describe('expireEvents', () => {
  it('removes Events an hour after their last write and notifies watchers', async () => {
    const t = startTestServer();
    using _ = expireEvents({ storage: t.server.storage, clock: t.clock, onError: fail });
    await post(t, 'a');
    await t.clock.advance(30 * MINUTE);
    await post(t, 'b');
    await t.clock.advance(20 * MINUTE);
    const merge = { 'content-type': 'application/merge-patch+json' };
    await t.call('PATCH', `${EVENTS}/b`, { count: 2 }, merge);
    const watch = await t.stream(`${EVENTS}?watch=true&resourceVersion=${t.server.storage.revision}`);
    await t.clock.advance(10 * MINUTE - 1);
    expect(await names(t)).toEqual(['a', 'b']);
    await t.clock.advance(1);
    expect(await names(t)).toEqual(['b']);
    const revision = String(t.server.storage.revision);
    expect(await watch.next()).toMatchObject({
      value: { type: 'DELETED', object: { kind: 'Event', metadata: { name: 'a', resourceVersion: revision } } },
    });
    await t.clock.advance(50 * MINUTE - 1);
    expect(await names(t)).toEqual(['b']);
    await t.clock.advance(1);
    expect(await names(t)).toEqual([]);
    await watch.return(undefined);
  });

  it('determines the age of Events from an earlier run', async () => {
    const t = startTestServer();
    await post(t, 'a');
    await t.clock.advance(30 * MINUTE);
    await post(t, 'b');
    await t.clock.advance(45 * MINUTE);
    using _ = expireEvents({ storage: t.server.storage, clock: t.clock, onError: fail });
    await post(t, 'c');
    await t.clock.advance(MINUTE);
    expect(await names(t)).toEqual(['b', 'c']);
    await t.clock.advance(14 * MINUTE);
    expect(await names(t)).toEqual(['c']);
    await t.clock.advance(45 * MINUTE);
    expect(await names(t)).toEqual([]);
  });

  it('removes nothing after it is stopped', async () => {
    const t = startTestServer();
    const expiry = expireEvents({ storage: t.server.storage, clock: t.clock, onError: fail });
    await post(t, 'a');
    expiry[Symbol.dispose]();
    await t.clock.advance(120 * MINUTE);
    expect(await names(t)).toEqual(['a']);
  });

  it('tries again later when an Event cannot be removed', async () => {
    let full: Error | undefined;
    const clock = new VirtualClock();
    const journal = {
      record: () => {
        if (full) throw full;
      },
    };
    const storage = new Storage({ clock, journal });
    const reported: unknown[] = [];
    using _ = expireEvents({ storage, clock, onError: (error) => reported.push(error) });
    storage.create('events', 'default/a', { metadata: { name: 'a', uid: 'a' } });
    full = new Error('no space left');
    await clock.advance(60 * MINUTE);
    expect([reported, storage.size('events')]).toEqual([[full], 1]);
    full = undefined;
    await clock.advance(10_000);
    expect([reported.length, storage.size('events')]).toEqual([1, 0]);
  });
});
