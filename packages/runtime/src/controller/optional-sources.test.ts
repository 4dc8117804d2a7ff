import { ConfigMap, type KubernetesObject, keyOf, type Resource, resource } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { describeCause } from '../queue/cause.ts';
import { MemoryApiServer } from '../testing/memory-api-server.ts';
import { controller, keyed } from './builder.ts';
import { collectingLog, runController } from './run-controller.test-support.ts';

interface Route extends KubernetesObject {
  readonly spec?: { readonly host?: string };
}
const Route: Resource<Route, 'Route.v1.route.example.dev'> = resource<Route>()({
  group: 'route.example.dev',
  version: 'v1',
  kind: 'Route',
  plural: 'routes',
  scope: 'Namespaced',
});

/** The longest delay between two attempts to watch a kind. */
const MAX_RETRY_MS = 30_000;
/** A kind counts as removed after several responses, each after a longer delay. */
const REMOVED_MS = 60_000;

const route = (name: string): Route => ({
  metadata: { namespace: 'default', name },
  spec: { host: `${name}.example` },
});

/** setUp returns a server with two ConfigMaps and without Routes, in virtual time. */
function setUp() {
  const wire = new VirtualClock();
  const server = new MemoryApiServer({ wire });
  for (const name of ['a', 'b']) server.put(ConfigMap, { metadata: { namespace: 'default', name } });
  return { wire, server };
}

/** routed declares a controller that records whether Routes are served, and which ones it finds. */
function routed(seen: string[]) {
  return controller(ConfigMap)
    .watches(Route, { optional: true, map: ({ metadata }) => [{ namespace: 'default', name: metadata.name }] })
    .reconcile(({ key, causes, list, isServed }) => {
      expectTypeOf(isServed(Route)).toEqualTypeOf<boolean>();
      const hosts = list(Route).map(({ spec }) => spec?.host);
      seen.push(`${key.name} ${isServed(Route)} [${hosts}] ${causes.map(describeCause).join(', ')}`);
    });
}

describe('an optional source', () => {
  it('is empty while its kind is not served, and does not hold up the controller', async () => {
    const { wire, server } = setUp();
    const seen: string[] = [];
    const { runner, settled } = await runController(routed(seen), { server, wire });
    expect(seen).toEqual(['a false [] add of ConfigMap default/a', 'b false [] add of ConfigMap default/b']);
    expect(runner.isSynced).toBe(true);
    expect(runner.notServed()).toMatchObject([{ kind: 'Route', state: 'not-served', served: false, optional: true }]);
    // Further responses of this kind change nothing.
    await wire.advance(5 * MAX_RETRY_MS);
    await settled();
    expect(seen).toHaveLength(2);
  });

  it('makes all keys run when its kind becomes served, and again when it is no longer served', async () => {
    const { wire, server } = setUp();
    const seen: string[] = [];
    const { runner, settled } = await runController(routed(seen), { server, wire });
    await wire.advance(5 * MAX_RETRY_MS);
    seen.length = 0;
    server.serve(Route);
    server.put(Route, route('a'));
    await wire.advance(MAX_RETRY_MS);
    await settled();
    // A run that the first object causes may begin before the others are enqueued, but finds the kind served.
    expect(seen.toSorted()).toEqual([
      'a true [a.example] Route is served now',
      'a true [a.example] add of watched Route default/a',
      'b true [a.example] Route is served now',
    ]);
    expect(runner.notServed()).toEqual([]);

    seen.length = 0;
    server.unserve(Route);
    await wire.advance(REMOVED_MS);
    await settled();
    expect(seen.toSorted()).toEqual([
      'a false [] Route is no longer served',
      'a false [] delete of watched Route default/a',
      'b false [] Route is no longer served',
    ]);
    expect(runner.isSynced).toBe(true);
  });

  it('is logged once per change, and retried without a hot loop', async () => {
    const { wire, server } = setUp();
    const lines: string[] = [];
    const log = collectingLog(lines, 'info', 'warn', 'error');
    await runController(routed([]), { server, wire, log });
    const before = server.requests.length;
    await wire.advance(20 * MAX_RETRY_MS);
    const about = (text: string) => lines.filter((line) => line.includes(text));
    expect(about('not served')).toEqual(['a kind is not served; it is watched as soon as it is']);
    // With full jitter, half of the longest delay on average; the watch of the ConfigMaps is renewed as well.
    expect(server.requests.slice(before).filter(({ path }) => path.includes('routes')).length).toBeLessThan(80);
    server.serve(Route);
    await wire.advance(MAX_RETRY_MS);
    expect(about('served now')).toEqual(['a kind is served now']);
    lines.length = 0;
    server.unserve(Route);
    await wire.advance(20 * MAX_RETRY_MS);
    expect(about('no longer served')).toHaveLength(1);
    expect(about('as soon as')).toHaveLength(0);
  });

  it('of a keyed controller makes the keys of all its sources run', async () => {
    const { wire, server } = setUp();
    const seen: string[] = [];
    const declared = keyed('hosts')
      .watches(ConfigMap, { map: ({ metadata }) => [metadata.name] })
      .watches(Route, { optional: true, map: ({ metadata }) => [metadata.name] })
      .reconcile(({ key, isServed, causes }) => {
        seen.push(`${key} ${isServed(Route)} ${causes.map(describeCause).join(', ')}`);
      });
    const { settled } = await runController(declared, { server, wire });
    seen.length = 0;
    server.serve(Route);
    server.put(Route, route('c'));
    await wire.advance(MAX_RETRY_MS);
    await settled();
    expect(seen.toSorted()).toEqual([
      'a true Route is served now',
      'b true Route is served now',
      'c true Route is served now',
      'c true add of watched Route default/c',
    ]);
    seen.length = 0;
    server.unserve(Route);
    await wire.advance(REMOVED_MS);
    await settled();
    expect(seen.toSorted()).toEqual([
      'a false Route is no longer served',
      'b false Route is no longer served',
      'c false delete of watched Route default/c',
    ]);
  });

  it('can be owned, and is available to map functions', async () => {
    const { wire, server } = setUp();
    const mapped: boolean[] = [];
    const declared = controller(ConfigMap)
      .owns(Route, { optional: true })
      .watches(ConfigMap, {
        as: 'others',
        map: (object, cache) => {
          mapped.push(cache.isServed(Route));
          return [keyOf(object)];
        },
      })
      .reconcile(() => {});
    const { settled } = await runController(declared, { server, wire });
    expect(mapped).toEqual([false, false]);
    server.serve(Route);
    await wire.advance(MAX_RETRY_MS);
    server.put(ConfigMap, { metadata: { namespace: 'default', name: 'c' } });
    await settled();
    expect(mapped.at(-1)).toBe(true);
  });

  it('accepts only declared sources in isServed', () => {
    controller(ConfigMap).reconcile(({ isServed }) => {
      isServed(ConfigMap);
      // @ts-expect-error Route is not declared
      isServed(Route);
    });
    // @ts-expect-error the primary kind cannot be optional
    expect(controller(ConfigMap, { optional: true }).reconcile(() => {}).sources[0]?.optional).toBe(false);
  });
});
