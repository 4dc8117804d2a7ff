import { ConfigMap, Namespace, resource } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import type { Labels, Metrics } from '../observability/metrics.ts';
import { described, Harness } from './harness.test-support.ts';
import { project, projectMetadata, trigger } from './view.ts';

const x = { namespace: 'a', name: 'x' };
const y = { namespace: 'a', name: 'y' };
const z = { namespace: 'b', name: 'z' };
const red = { labels: { colour: 'red' } };
const blue = { labels: { colour: 'blue' } };

it('runs many informers without a listener leak warning from Node', async () => {
  await using harness = new Harness();
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning.name);
  process.on('warning', onWarning);
  for (let index = 0; index < 12; index++) harness.watch({ view: project(() => index) });
  await harness.run();
  await harness.settle();
  process.off('warning', onWarning);
  expect(warnings).not.toContain('MaxListenersExceededWarning');
});

describe('views', () => {
  it('full keeps everything but managedFields', async () => {
    await using harness = new Harness();
    harness.server.put(x, { data: { n: '1' } });
    const { informer } = harness.watch();
    await harness.run();
    expect(informer.get(x)?.data).toEqual({ n: '1' });
    expect(informer.get(x)?.metadata?.managedFields).toBeUndefined();
  });

  it('metadata requests only metadata from the server', async () => {
    await using harness = new Harness();
    harness.server.put(x, { ...red, data: { n: '1' } });
    const { informer } = harness.watch({ view: 'metadata' });
    await harness.run();
    expect(harness.server.requests[0]?.metadataOnly).toBe(true);
    expect(informer.get(x)).toEqual({ metadata: expect.objectContaining({ name: 'x', labels: { colour: 'red' } }) });
  });

  it('project keeps what the function returns, and the metadata that selectors and owners need', async () => {
    await using harness = new Harness();
    harness.server.put(x, { ...red, data: { n: '1', secret: 's' } });
    harness.server.put(y, blue);
    const { informer, events } = harness.watch({ view: project((object: ConfigMap) => object.data?.n ?? 'none') });
    await harness.run();
    expect(informer.get(x)).toBe('1');
    expect(informer.list({ labelSelector: 'colour=red' })).toEqual(['1']);
    expect(informer.list({ labelSelector: { matchLabels: { colour: 'blue' } } })).toEqual(['none']);
    expect(JSON.stringify(events)).not.toContain('secret');
  });

  it('project drops objects the function returns undefined for, with a delete event if they were stored', async () => {
    await using harness = new Harness();
    harness.server.put(x, { data: { n: '1' } });
    const { informer, events } = harness.watch({ view: project((object: ConfigMap) => object.data?.n) });
    await harness.run();
    harness.server.put(x, {});
    await harness.settle();
    expect(informer.get(x)).toBeUndefined();
    expect(events.map(described)).toEqual(['add a/x (initial)', 'delete a/x']);
  });

  it('project that throws keeps the last value, counts the error and does not affect other objects', async () => {
    await using harness = new Harness();
    const view = project((object: ConfigMap) => {
      if (object.data?.n === 'bad') throw new Error('cannot');
      return object.data?.n ?? '';
    });
    const { informer } = harness.watch({ view });
    await harness.run();
    harness.server.put(x, { data: { n: 'good' } });
    harness.server.put(x, { data: { n: 'bad' } });
    harness.server.put(y, { data: { n: 'other' } });
    await harness.settle();
    expect(informer.list()).toEqual(['good', 'other']);
    expect(informer.health().projectionErrors).toBe(1);
  });

  it('projectMetadata requests only metadata from the server, and keeps what the function returns', async () => {
    await using harness = new Harness();
    harness.server.put(x, { ...red, data: { n: '1' } });
    harness.server.put(y, { data: { n: '2' } });
    const seen: unknown[] = [];
    const view = projectMetadata((object) => {
      seen.push(object);
      return object.metadata.labels?.colour;
    });
    const { informer, events } = harness.watch({ view });
    await harness.run();
    expect(harness.server.requests[0]?.metadataOnly).toBe(true);
    expect(informer.list({ labelSelector: 'colour' })).toEqual(['red']);
    harness.server.put(x, blue);
    harness.server.put(y, red);
    harness.server.put(x, {});
    await harness.settle();
    expect(informer.list()).toEqual(['red']);
    expect(events.map(described)).toEqual(['add a/x (initial)', 'update a/x', 'add a/y', 'delete a/x']);
    expect(seen.every((object) => Object.keys(object as object).join() === 'metadata')).toBe(true);
  });

  it('trigger keeps uid and resourceVersion of the keys it accepts', async () => {
    await using harness = new Harness();
    const kept = new Set(['x']);
    harness.server.put(x, { ...red, data: { n: '1' } });
    harness.server.put(y);
    const { informer, events } = harness.watch({ view: trigger(({ name }) => kept.has(name)) });
    await harness.run();
    expect(informer.list()).toEqual([
      { metadata: { name: 'x', namespace: 'a', uid: 'uid-1', resourceVersion: '1001' } },
    ]);
    kept.add('y');
    harness.server.put(y);
    harness.server.remove(x);
    await harness.settle();
    expect(events.map(described)).toEqual(['add a/x (initial)', 'add a/y', 'delete a/x']);
  });

  it('freezes stored objects with freeze: true', async () => {
    await using harness = new Harness({ freeze: true });
    harness.server.put(x, { data: { n: '1' } });
    const { informer } = harness.watch();
    await harness.run();
    expect(() => Object.assign(informer.get(x)?.data ?? {}, { n: '2' })).toThrow(TypeError);
  });
});

describe('sharing', () => {
  it('returns the same informer for the same kind, scope and view', async () => {
    await using harness = new Harness();
    const data = project((object: ConfigMap) => object.data);
    const { cache } = harness;
    expect(cache.informer(ConfigMap)).toBe(cache.informer(ConfigMap, { view: 'full' }));
    expect(cache.informer(ConfigMap, { view: data })).toBe(cache.informer(ConfigMap, { view: project(data.project) }));
    expect(cache.informer(ConfigMap, { namespaces: ['b', 'a'] })).toBe(
      cache.informer(ConfigMap, { namespaces: ['a', 'b', 'a'] }),
    );
    expect(cache.informer(ConfigMap, { labelSelector: 'b=1,a=2' })).toBe(
      cache.informer(ConfigMap, { labelSelector: 'a=2, b=1' }),
    );
    expect(cache.informer(ConfigMap)).not.toBe(cache.informer(ConfigMap, { view: 'metadata' }));
    expect(cache.informer(ConfigMap)).not.toBe(cache.informer(ConfigMap, { labelSelector: 'a=1' }));
    await harness.run();
    expect(harness.server.requests).toHaveLength(7);
  });

  it('starts an informer that is requested while the cache runs', async () => {
    await using harness = new Harness();
    harness.server.put(x);
    await harness.run();
    const { informer } = harness.watch();
    await harness.settle();
    expect(informer.get(x)).toBeDefined();
  });

  it('runs only once', async () => {
    await using harness = new Harness();
    await harness.run();
    await expect(harness.cache.run(new AbortController().signal)).rejects.toMatchObject({
      code: 'BOWLINE_CACHE_RUNS_ONCE',
    });
  });
});

describe('scopes', () => {
  it('watches each namespace of a list separately and merges the results', async () => {
    await using harness = new Harness();
    harness.server.put(x);
    harness.server.put(z);
    harness.server.put({ namespace: 'c', name: 'w' });
    const { informer } = harness.watch({ namespaces: ['a', 'b'] });
    await harness.run();
    expect(harness.server.requests.map(({ namespace }) => namespace)).toEqual(['a', 'b']);
    expect(informer.list()).toHaveLength(2);
    expect(informer.list({ namespace: 'b' })).toHaveLength(1);
  });

  it('relists one namespace without affecting the others', async () => {
    await using harness = new Harness();
    harness.server.put(x);
    harness.server.put(z);
    const { informer, events } = harness.watch({ namespaces: ['a', 'b'] });
    await harness.run();
    harness.server.history.remove(x);
    harness.server.history.compact(harness.server.history.current);
    const [first] = harness.server.watches;
    first?.cut();
    await harness.clock.advance(5_000);
    expect(events.slice(2).map(described)).toEqual(['delete a/x (initial, stale)']);
    expect(informer.list()).toHaveLength(1);
  });

  it('is synced when all its namespaces are', async () => {
    await using harness = new Harness();
    harness.server.script = ({ namespace }) => (namespace === 'b' ? 'hang' : undefined);
    const { informer } = harness.watch({ namespaces: ['a', 'b'] });
    await harness.run();
    expect(informer.hasSynced).toBe(false);
    harness.server.script = () => undefined;
    await harness.clock.advance(40_000);
    expect(informer.hasSynced).toBe(true);
  });

  it('lets the server select by label and field, and follows objects that enter or leave the selection', async () => {
    await using harness = new Harness();
    harness.server.put(x, red);
    harness.server.put(y, blue);
    const labelled = harness.watch({ labelSelector: 'colour=red' });
    const named = harness.watch({ fieldSelector: 'metadata.name=y' });
    await harness.run();
    harness.server.put(x, blue);
    harness.server.put(y, red);
    await harness.settle();
    expect(labelled.events.map(described)).toEqual(['add a/x (initial)', 'delete a/x', 'add a/y']);
    expect(named.informer.list()).toHaveLength(1);
  });

  it.each([
    [{ namespaces: [] }, 'an empty list of namespaces'],
    [{ namespaces: [''] }, 'an empty list of namespaces'],
  ])('rejects the scope %j', (scope, text) => {
    expect(() => new Harness().cache.informer(ConfigMap, scope)).toThrow(text);
  });

  it('rejects namespaces for a cluster-scoped kind', () => {
    expect(() => new Harness().cache.informer(Namespace, { namespaces: ['a'] })).toThrow('cluster-scoped');
  });
});

describe('indexes', () => {
  const byColour = (object: ConfigMap): string[] => [object.metadata?.labels?.colour ?? 'none'];

  it('follow every change, even when added later', async () => {
    await using harness = new Harness();
    harness.server.put(x, red);
    harness.server.put(y, red);
    const { informer } = harness.watch();
    await harness.run();
    informer.addIndex('colour', byColour);
    expect(informer.byIndex('colour', 'red')).toHaveLength(2);
    harness.server.put(x, blue);
    harness.server.remove(y);
    await harness.settle();
    expect(informer.byIndex('colour', 'red')).toEqual([]);
    expect(informer.byIndex('colour', 'blue')).toEqual([informer.get(x)]);
  });

  it('accept the same function twice, but not another function with the same name', () => {
    const informer = new Harness().cache.informer(ConfigMap);
    informer.addIndex('colour', byColour);
    informer.addIndex('colour', byColour);
    expect(() => informer.addIndex('colour', () => [])).toThrow('another function');
    expect(() => informer.byIndex('size', 'x')).toThrow('the index does not exist');
  });

  it('omit an object for which their function throws', async () => {
    await using harness = new Harness();
    harness.server.put(x);
    const { informer } = harness.watch();
    informer.addIndex('broken', () => {
      throw new Error('no');
    });
    await harness.run();
    expect(informer.list()).toHaveLength(1);
    expect(informer.byIndex('broken', 'any')).toEqual([]);
    expect(informer.health().handlerErrors).toBeGreaterThan(0);
  });
});

describe('handlers', () => {
  it('receive the stored objects when they subscribe late, and then only new changes', async () => {
    await using harness = new Harness();
    harness.server.put(x);
    harness.watch();
    await harness.run();
    const late = harness.watch();
    expect(late.events.map(described)).toEqual(['add a/x (initial)']);
    harness.server.put(x);
    await harness.settle();
    expect(late.events.map(described)).toEqual(['add a/x (initial)', 'update a/x']);
  });

  it('see the change in the store', async () => {
    await using harness = new Harness();
    const informer = harness.cache.informer(ConfigMap);
    const seen: unknown[] = [];
    informer.subscribe(({ key, current }) => seen.push(informer.get(key) === current));
    await harness.run();
    harness.server.put(x);
    harness.server.remove(x);
    await harness.settle();
    expect(seen).toHaveLength(2);
    expect(seen[1]).toBe(true);
  });

  it('that throw or reject affect neither other handlers nor the watch', async () => {
    await using harness = new Harness();
    const informer = harness.cache.informer(ConfigMap);
    informer.subscribe(() => {
      throw new Error('broken');
    });
    // An async function is assignable to the handler type too.
    const rejecting = (): unknown => Promise.reject(new Error('broken too'));
    informer.subscribe(rejecting);
    const { events } = harness.watch();
    await harness.run();
    harness.server.put(x);
    harness.server.put(y);
    await harness.settle();
    expect(events).toHaveLength(2);
    expect(informer.health()).toMatchObject({ handlerErrors: 4, state: 'watching' });
  });

  it('receive nothing after they unsubscribed', async () => {
    await using harness = new Harness();
    const informer = harness.cache.informer(ConfigMap);
    const keys: string[] = [];
    const subscription = informer.subscribe(({ key }) => keys.push(key.name));
    await harness.run();
    harness.server.put(x);
    await harness.settle();
    subscription[Symbol.dispose]();
    harness.server.put(y);
    await harness.settle();
    expect(keys).toEqual(['x']);
  });

  it('yield to the event loop between the events of a long list', async () => {
    await using harness = new Harness();
    for (let count = 0; count < 2_000; count++) harness.server.put({ namespace: 'a', name: `n${count}` });
    const informer = harness.cache.informer(ConfigMap);
    const turns = new Set<number>();
    let turn = 0;
    const nextTurn = (): void => {
      turn++;
      if (!informer.hasSynced) setImmediate(nextTurn);
    };
    setImmediate(nextTurn);
    informer.subscribe(() => turns.add(turn));
    await harness.run();
    await informer.synced();
    expect(turns.size).toBeGreaterThan(1);
  });
});

describe('waiting for the first state', () => {
  it('resolves when handlers have seen it', async () => {
    await using harness = new Harness();
    harness.server.put(x);
    const { informer, events } = harness.watch();
    const synced = informer.synced().then(() => events.length);
    await harness.run();
    expect(await synced).toBe(1);
  });

  it('rejects with the reason of its signal', async () => {
    await using harness = new Harness();
    const controller = new AbortController();
    const { informer } = harness.watch();
    const synced = informer.synced(controller.signal);
    controller.abort(new Error('no longer needed'));
    await expect(synced).rejects.toThrow('no longer needed');
  });

  it('rejects when the cache stops first', async () => {
    const harness = new Harness();
    harness.server.script = () => 'refuse';
    const { informer } = harness.watch();
    const outcome = informer.synced().catch((error: unknown) => error);
    await harness.run();
    await harness.stop();
    expect(await outcome).toMatchObject({ code: 'BOWLINE_CACHE_STOPPED' });
  });
});

describe('health', () => {
  it('reports a kind that is not served, and recovers when its definition is installed', async () => {
    await using harness = new Harness();
    harness.server.served = false;
    const { informer } = harness.watch();
    await harness.run();
    await harness.clock.advance(60_000);
    expect(informer.hasSynced).toBe(false);
    expect(informer.health()).toMatchObject({ state: 'not-served', synced: false });
    expect(informer.health().reason).toContain('does not serve ConfigMap.v1.');
    harness.server.served = true;
    harness.server.put(x);
    await harness.clock.advance(31_000);
    expect(informer.get(x)).toBeDefined();
    expect(informer.health()).toMatchObject({ state: 'watching', synced: true });
  });

  it('reports whether its kind is served, as soon as that is known, and every change of it', async () => {
    await using harness = new Harness();
    harness.server.served = false;
    const { informer, events } = harness.watch();
    const changes: string[] = [];
    informer.onServedChange((isServed) => {
      changes.push(`${isServed} ${informer.isServed} with ${informer.list().length} objects, ${events.length} events`);
    });
    expect(informer.isServed).toBeUndefined();
    expect(informer.health()).not.toHaveProperty('served');
    await harness.run();
    await informer.settled();
    expect(informer.isServed).toBe(false);
    expect(informer.hasSynced).toBe(false);
    expect(informer.health().served).toBe(false);
    // The last known answer holds while the server cannot be reached.
    harness.server.script = () => ({ status: 503 });
    await harness.clock.advance(60_000);
    expect(informer.health()).toMatchObject({ state: 'backing-off', served: false });
    harness.server.script = () => undefined;
    expect(changes).toEqual([]);
    harness.server.served = true;
    harness.server.put(x);
    await harness.clock.advance(31_000);
    expect(informer.health().served).toBe(true);
    expect(changes).toEqual(['true true with 1 objects, 1 events']);
    harness.server.served = false;
    harness.server.onlyWatch.cut();
    await harness.clock.advance(90_000);
    expect(changes.slice(1)).toEqual(['false false with 0 objects, 2 events']);
    await informer.settled();
  });

  it('does not know whether a kind is served that may not be read', async () => {
    await using harness = new Harness();
    harness.server.script = () => ({ status: 403, body: statusForbidden });
    const { informer } = harness.watch();
    await harness.run();
    await harness.clock.advance(60_000);
    expect(informer.isServed).toBeUndefined();
    harness.server.served = false;
    harness.server.script = () => undefined;
    await harness.clock.advance(31_000);
    expect(informer.isServed).toBe(false);
    harness.server.script = () => ({ status: 403, body: statusForbidden });
    await harness.clock.advance(31_000);
    expect(informer.isServed).toBeUndefined();
    expect(informer.health().state).toBe('forbidden');
  });

  it('counts an optional kind that is not served as no problem in metrics, unless another user needs it', async () => {
    const metrics = new RecordedMetrics();
    await using harness = new Harness({ metrics });
    harness.server.served = false;
    const informer = harness.cache.informer(ConfigMap, { optional: true });
    await harness.run();
    const gauges = () => {
      metrics.collectNow();
      const labels = 'cache=default,group=,kind=ConfigMap,view=full';
      return ['synced', 'watching'].map((name) => metrics.values.get(`bowline_informer_${name}{${labels}}`));
    };
    expect(informer.health()).toMatchObject({ optional: true, synced: false });
    expect(gauges()).toEqual([1, 1]);
    expect(harness.cache.informer(ConfigMap)).toBe(informer);
    expect(informer.health()).toMatchObject({ optional: false });
    expect(gauges()).toEqual([0, 0]);
  });

  it('keeps its objects while a kind is briefly not served', async () => {
    await using harness = new Harness();
    harness.server.put(x);
    const { informer, events } = harness.watch();
    await harness.run();
    harness.server.served = false;
    harness.server.onlyWatch.cut();
    await harness.clock.advance(5_000);
    expect(informer.get(x)).toBeDefined();
    harness.server.served = true;
    await harness.clock.advance(40_000);
    expect(events).toHaveLength(1);
  });

  it('treats the objects of a kind whose definition was removed as deleted', async () => {
    await using harness = new Harness();
    harness.server.put(x);
    const { informer, events } = harness.watch();
    await harness.run();
    harness.server.served = false;
    harness.server.onlyWatch.cut();
    await harness.clock.advance(90_000);
    expect(informer.list()).toEqual([]);
    expect(informer.health()).toMatchObject({ state: 'not-served', synced: false, objects: 0 });
    expect(events.slice(1).map(described)).toEqual(['delete a/x (initial, stale)']);
  });

  it('names the missing rule when reading is forbidden, keeps its objects and keeps retrying', async () => {
    await using harness = new Harness();
    harness.server.put(x);
    const { informer } = harness.watch({ namespaces: ['a'] });
    await harness.run();
    harness.server.script = () => ({ status: 403, body: statusForbidden });
    harness.server.onlyWatch.cut();
    await harness.clock.advance(60_000);
    expect(informer.health().state).toBe('forbidden');
    expect(informer.health().reason).toContain(
      'not allowed to read configmaps in namespace a; grant apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"]',
    );
    expect(informer.get(x)).toBeDefined();
    harness.server.script = () => undefined;
    await harness.clock.advance(31_000);
    expect(informer.health().state).toBe('watching');
  });

  it('reports the age of the last event, bookmark and sign of activity', async () => {
    await using harness = new Harness();
    const { informer } = harness.watch();
    await harness.run();
    harness.server.put(x);
    await harness.settle();
    await harness.clock.advance(75_000);
    expect(informer.health()).toMatchObject({ lastEventAgeMs: 75_000, lastBookmarkAgeMs: 15_000, aliveAgeMs: 0 });
  });

  it('exports metrics by kind and view, with counters starting at zero', async () => {
    const metrics = new RecordedMetrics();
    await using harness = new Harness({ metrics });
    harness.server.put(x);
    harness.watch();
    harness.watch({ labelSelector: 'a=b' });
    await harness.run();
    metrics.collectNow();
    const labels = 'cache=default,group=,kind=ConfigMap,view=full';
    expect(metrics.values.get(`bowline_informer_objects{${labels}}`)).toBe(1);
    expect(metrics.values.get(`bowline_informer_synced{${labels}}`)).toBe(1);
    expect(metrics.values.get(`bowline_informer_relists_total{${labels}}`)).toBe(0);
    for (const watch of harness.server.watches) watch.cut();
    await harness.clock.advance(1_000);
    metrics.collectNow();
    metrics.collectNow();
    expect(metrics.values.get(`bowline_informer_reconnects_total{${labels},reason=transport}`)).toBe(2);
  });
});

describe('kinds of any group', () => {
  it('distinguishes two kinds of the same name', () => {
    const { cache } = new Harness();
    const mine = resource<ConfigMap>()({
      group: 'example.com',
      version: 'v1',
      kind: 'ConfigMap',
      plural: 'configmaps',
      scope: 'Namespaced',
    });
    expect(cache.informer(ConfigMap)).not.toBe(cache.informer(mine));
  });
});

const statusForbidden = { kind: 'Status', apiVersion: 'v1', code: 403, reason: 'Forbidden', message: 'no RBAC rule' };

class RecordedMetrics implements Metrics {
  readonly values = new Map<string, number>();
  readonly #callbacks = new Set<() => void>();

  collectNow(): void {
    for (const callback of this.#callbacks) callback();
  }

  counter({ name }: { name: string }) {
    return {
      add: (labels: Labels = {}, amount = 1) => {
        const series = seriesOf(name, labels);
        this.values.set(series, (this.values.get(series) ?? 0) + amount);
      },
    };
  }

  gauge({ name }: { name: string }) {
    return {
      set: (value: number, labels: Labels = {}) => void this.values.set(seriesOf(name, labels), value),
      remove: (labels: Labels) => void this.values.delete(seriesOf(name, labels)),
    };
  }

  histogram() {
    return { observe() {} };
  }

  collect(callback: () => void): Disposable {
    this.#callbacks.add(callback);
    return { [Symbol.dispose]: () => void this.#callbacks.delete(callback) };
  }
}

function seriesOf(name: string, labels: Labels): string {
  return `${name}{${Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')}}`;
}
