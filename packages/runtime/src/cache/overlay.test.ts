import { ConfigMap } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { Harness } from './harness.test-support.ts';
import type { Content, NamespacedKey, StoredObject } from './history.test-support.ts';
import { project } from './view.ts';
import { statusOf } from './watch-server.test-support.ts';

const x = { namespace: 'a', name: 'x' };
const y = { namespace: 'a', name: 'y' };
const red = { labels: { colour: 'red' } };
const blue = { labels: { colour: 'blue' } };

/** A harness whose watch delays everything, so that the responses of writes arrive before their watch events. */
class SlowEcho extends Harness {
  hold(): void {
    for (const watch of this.server.watches) watch.stall();
  }

  async release(): Promise<void> {
    for (const watch of this.server.watches) watch.resume();
    await this.settle();
  }

  write(key: NamespacedKey, content: Content = {}): StoredObject {
    const object = this.server.put(key, content);
    this.cache.recordWrite(ConfigMap, object);
    return object;
  }

  delete(key: NamespacedKey): void {
    const object = this.server.remove(key);
    if (object) this.cache.recordDelete(ConfigMap, key, object.metadata);
  }
}

describe('own writes', () => {
  it('are readable immediately, and cause no event before their watch event', async () => {
    await using harness = new SlowEcho();
    const { informer, events } = harness.watch();
    await harness.run();
    harness.hold();
    harness.write(x, { data: { n: '1' } });
    expect(informer.get(x)?.data).toEqual({ n: '1' });
    expect(informer.list()).toHaveLength(1);
    expect(informer.health().unconfirmedWrites).toBe(1);
    expect(events).toEqual([]);
    await harness.release();
    expect(events).toHaveLength(1);
    expect(informer.health().unconfirmedWrites).toBe(0);
  });

  it('are not replaced by older watch events', async () => {
    await using harness = new SlowEcho();
    const { informer } = harness.watch();
    await harness.run();
    harness.hold();
    harness.server.put(x, { data: { n: '1' } });
    const [watch] = harness.server.watches;
    const first = harness.server.history.get(x);
    harness.write(x, { data: { n: '2' } });
    watch?.resume();
    expect(first?.data).toEqual({ n: '1' });
    expect(informer.get(x)?.data).toEqual({ n: '2' });
    await harness.settle();
    expect(informer.get(x)?.data).toEqual({ n: '2' });
  });

  it('are ignored when the watch has already passed them: a late response restores nothing', async () => {
    await using harness = new SlowEcho();
    const { informer } = harness.watch();
    await harness.run();
    const object = harness.server.put(x);
    harness.server.remove(x);
    await harness.settle();
    harness.cache.recordWrite(ConfigMap, object);
    expect(informer.get(x)).toBeUndefined();
  });

  it('are dropped when a bookmark shows that the watch has passed them', async () => {
    await using harness = new SlowEcho();
    const { informer } = harness.watch();
    await harness.run();
    const lost = { ...harness.server.history.put(x, {}), metadata: { ...x, uid: 'u', resourceVersion: '1001' } };
    harness.server.history.remove(x);
    harness.server.onlyWatch.stall();
    harness.cache.recordWrite(ConfigMap, lost);
    expect(informer.get(x)).toBeDefined();
    harness.server.onlyWatch.bookmark(harness.server.history.current);
    await harness.release();
    expect(informer.get(x)).toBeUndefined();
    expect(informer.health().unconfirmedWrites).toBe(0);
  });

  it('survive a relist that is older than they are', async () => {
    await using harness = new SlowEcho();
    const { informer } = harness.watch();
    await harness.run();
    harness.server.endsInitialState = false;
    harness.server.onlyWatch.error(statusOf(410, 'Expired'));
    await harness.clock.advance(1_000);
    // Written, but not yet delivered to the watch whose state is arriving.
    harness.cache.recordWrite(ConfigMap, harness.server.history.put(x, {}));
    harness.server.onlyWatch.bookmark(1000, true);
    await harness.settle();
    expect(informer.health()).toMatchObject({ relists: 1, unconfirmedWrites: 1 });
    expect(informer.get(x)).toBeDefined();
    harness.server.put(y);
    await harness.settle();
    expect(informer.health().unconfirmedWrites).toBe(0);
    expect(informer.list()).toHaveLength(2);
  });

  it('respect the scope, view and indexes of each informer', async () => {
    await using harness = new SlowEcho();
    const colour = (object: ConfigMap): string => object.metadata?.labels?.colour ?? 'none';
    const all = harness.watch().informer;
    const reds = harness.watch({ labelSelector: 'colour=red' }).informer;
    const elsewhere = harness.watch({ namespaces: ['b'] }).informer;
    const named = harness.watch({ fieldSelector: 'metadata.name=y' }).informer;
    const colours = harness.watch({ view: project(colour) }).informer;
    all.addIndex('colour', (object) => [colour(object)]);
    await harness.run();
    harness.server.put(x, red);
    await harness.settle();
    harness.hold();
    harness.write(x, blue);
    expect(all.byIndex('colour', 'red')).toEqual([]);
    expect(all.byIndex('colour', 'blue')).toHaveLength(1);
    expect(reds.get(x)).toBeUndefined();
    expect(elsewhere.list()).toEqual([]);
    expect(named.list()).toEqual([]);
    expect(colours.get(x)).toBe('blue');
    harness.write(x, red);
    expect(reds.get(x)).toBeDefined();
  });

  it('run through the view once, and again after another client has changed the object', async () => {
    await using harness = new SlowEcho();
    const seen: (string | undefined)[] = [];
    const numbers = project(({ data }: ConfigMap) => {
      seen.push(data?.n);
      return { n: data?.n };
    });
    const { informer, events } = harness.watch({ view: numbers });
    await harness.run();
    harness.hold();
    harness.write(x, { data: { n: '1' } });
    const read = informer.get(x);
    await harness.release();
    expect(informer.get(x)).toBe(read);
    expect(events).toHaveLength(1);
    expect(seen).toEqual(['1']);
    harness.server.put(x, { data: { n: '2' } });
    await harness.settle();
    expect(informer.get(x)).toEqual({ n: '2' });
    expect(seen).toEqual(['1', '2']);
  });

  it('do not modify the object they are given', async () => {
    await using harness = new SlowEcho();
    const { informer } = harness.watch();
    await harness.run();
    harness.hold();
    const object = harness.write(x);
    expect(object.metadata.managedFields).toHaveLength(1);
    expect(informer.get(x)?.metadata?.managedFields).toBeUndefined();
  });

  it('whose versions cannot be compared are not visible before their watch event', async () => {
    await using harness = new SlowEcho();
    const { informer } = harness.watch();
    await harness.run();
    harness.cache.recordWrite(ConfigMap, { metadata: { ...x, uid: 'u', resourceVersion: 'opaque' } });
    expect(informer.get(x)).toBeUndefined();
  });

  it('are dropped after five minutes without their watch event', async () => {
    await using harness = new SlowEcho();
    const { informer } = harness.watch();
    await harness.run();
    harness.cache.recordWrite(ConfigMap, { metadata: { ...x, uid: 'u', resourceVersion: '999999' } });
    await harness.clock.advance(240_000);
    expect(informer.get(x)).toBeDefined();
    await harness.clock.advance(121_000);
    expect(informer.get(x)).toBeUndefined();
  });
});

describe('own deletions', () => {
  it('hide the object until its deletion has been seen', async () => {
    await using harness = new SlowEcho();
    harness.server.put(x);
    const { informer, events } = harness.watch();
    await harness.run();
    harness.hold();
    harness.delete(x);
    expect(informer.get(x)).toBeUndefined();
    expect(informer.list()).toEqual([]);
    expect(events).toHaveLength(1);
    await harness.release();
    expect(events).toHaveLength(2);
    expect(informer.health().unconfirmedWrites).toBe(0);
  });

  it('of an object that the watch has not delivered yet keep it hidden when it arrives', async () => {
    await using harness = new SlowEcho();
    const { informer } = harness.watch();
    await harness.run();
    harness.hold();
    harness.write(x);
    harness.delete(x);
    expect(informer.get(x)).toBeUndefined();
    const seen: boolean[] = [];
    informer.subscribe(() => seen.push(informer.get(x) !== undefined));
    await harness.release();
    expect(seen).toEqual([false, false]);
  });

  it('do not hide a successor of the same name', async () => {
    await using harness = new SlowEcho();
    harness.server.put(x);
    const { informer } = harness.watch();
    await harness.run();
    harness.hold();
    harness.delete(x);
    harness.write(x, { data: { n: 'new' } });
    expect(informer.get(x)?.data).toEqual({ n: 'new' });
    await harness.release();
    expect(informer.get(x)?.data).toEqual({ n: 'new' });
  });

  it('are not undone by the late response of an earlier write', async () => {
    await using harness = new SlowEcho();
    const { informer } = harness.watch();
    await harness.run();
    harness.hold();
    const object = harness.server.put(x);
    const last = harness.server.put(x);
    harness.server.remove(x);
    harness.cache.recordDelete(ConfigMap, x, object.metadata);
    harness.cache.recordWrite(ConfigMap, last);
    expect(informer.get(x)).toBeUndefined();
  });

  it('recorded for another object of that name hide nothing', async () => {
    await using harness = new SlowEcho();
    harness.server.put(x);
    harness.server.put(y);
    const { informer } = harness.watch();
    await harness.run();
    harness.cache.recordDelete(ConfigMap, x, { uid: 'another-uid' });
    expect(informer.get(x)).toBeDefined();
  });
});
