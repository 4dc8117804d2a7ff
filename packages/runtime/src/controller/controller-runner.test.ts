import { ConfigMap, type KubernetesObject, keyOf, Namespace, Secret } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Cache } from '../cache/cache.ts';
import { project, trigger } from '../cache/view.ts';
import { createClient } from '../client/create-client.ts';
import { ApiError } from '../errors/api-error.ts';
import { operatorIdentity } from '../identity/operator-identity.ts';
import { SmallApiServer } from '../manager/small-api-server.test-support.ts';
import { createMetrics } from '../observability/create-metrics.ts';
import { type Fields, type Log, silentLog } from '../observability/log.ts';
import { describeCause } from '../queue/cause.ts';
import { controller, keyed } from './builder.ts';
import type { Controller } from './controller.ts';
import { type ControllerCache, ControllerRunner } from './controller-runner.ts';
import { generationChanged, labelsChanged, matching } from './predicates.ts';
import { slow } from './reconcile-error.ts';

const map = (
  name: string,
  more: Partial<ConfigMap['metadata']> = {},
  data: Record<string, string> = {},
): ConfigMap => ({
  metadata: { name, namespace: 'default', ...more },
  data,
});

const ownedBy = (owner: KubernetesObject | undefined, uid = owner?.metadata?.uid ?? '') => ({
  ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: owner?.metadata?.name ?? '', uid, controller: true }],
});

/** Runs a controller against a small server; time stands still unless a test moves it. */
async function setUp(
  declared: Controller<never>,
  options: { server?: SmallApiServer; deps?: unknown; log?: Log } = {},
) {
  const server = options.server ?? new SmallApiServer();
  const clock = new VirtualClock();
  const metrics = createMetrics({ process: false });
  const client = createClient({ transport: server.transport() });
  const cache = new Cache({ client, pausedAnnotation: 'bowline.dev/paused' });
  const runner = new ControllerRunner(declared, {
    identity: operatorIdentity({ name: 'test', domain: 'bowline.dev' }),
    instance: 'here',
    cache: cache as unknown as ControllerCache,
    clock,
    random: { next: () => 0.5 },
    log: options.log ?? silentLog,
    metrics,
  });
  const stop = new AbortController();
  const over = new AbortController();
  const caching = cache.run(over.signal);
  const running = runner.run(stop.signal, { client, deps: options.deps, drainMs: 30_000 });
  onTestFinished(async () => {
    stop.abort();
    await clock.advance(30_000);
    await running;
    over.abort();
    await caching;
  });
  const until = async (condition: () => boolean): Promise<void> => {
    for (let turn = 0; turn < 2_000 && !condition(); turn++) await clock.advance(0);
    expect(condition()).toBe(true);
  };
  /** Waits until every key that events have brought was worked on. */
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await clock.advance(0);
    await until(() => runner.state === 'running' && runner.entries().every((entry) => entry.state === 'delayed'));
  };
  await settled();
  return { server, clock, runner, client, metrics, stop, running, settled, until };
}

describe('a controller of a kind', () => {
  it('reconciles what exists at low priority, then every change at normal priority, each with its cause', async () => {
    const server = new SmallApiServer();
    server.put(ConfigMap, map('a'));
    const seen: string[] = [];
    const { settled } = await setUp(
      controller(ConfigMap).reconcile(({ object, key, causes, attempt }) => {
        seen.push(`${key.namespace}/${object.metadata?.name} ${attempt}: ${causes.map(describeCause).join(', ')}`);
      }),
      { server },
    );
    server.put(ConfigMap, map('a', {}, { x: '1' }));
    await settled();
    server.put(ConfigMap, map('b'));
    await settled();
    expect(seen).toEqual([
      'default/a 1: add of ConfigMap default/a',
      'default/a 1: update of ConfigMap default/a',
      'default/b 1: add of ConfigMap default/b',
    ]);
  });

  it('never hands a deleted key to reconcile, and forgets what waited for it', async () => {
    const server = new SmallApiServer();
    server.put(ConfigMap, map('a'));
    let runs = 0;
    const { runner, settled } = await setUp(
      controller(ConfigMap).reconcile(() => {
        runs++;
        return { requeueAfterMs: 3_600_000 };
      }),
      { server },
    );
    expect(runner.entries()).toMatchObject([{ key: 'default/a', state: 'delayed' }]);
    server.remove(ConfigMap, { namespace: 'default', name: 'a' });
    await settled();
    expect(runs).toBe(1);
    expect(runner.entries()).toEqual([]);
  });

  it('applies predicates to updates of the primary kind', async () => {
    const server = new SmallApiServer();
    server.put(ConfigMap, map('a', { labels: { v: '1' } }));
    let runs = 0;
    const { settled } = await setUp(
      controller(ConfigMap)
        .when(labelsChanged('v'))
        .reconcile(() => {
          runs++;
        }),
      { server },
    );
    server.put(ConfigMap, map('a', { labels: { v: '1', other: 'x' } }, { changed: 'yes' }));
    await settled();
    expect(runs).toBe(1);
    server.put(ConfigMap, map('a', { labels: { v: '2' } }));
    await settled();
    expect(runs).toBe(2);
  });

  it('lets an event count whose predicate throws', async () => {
    const server = new SmallApiServer();
    server.put(ConfigMap, map('a'));
    let runs = 0;
    const { metrics } = await setUp(
      controller(ConfigMap)
        .when(() => {
          throw new Error('broken predicate');
        })
        .reconcile(() => {
          runs++;
        }),
      { server },
    );
    expect(runs).toBe(1);
    expect(await metrics.render()).toContain('bowline_map_errors_total{controller="configmap"} 1');
  });

  it('looks at everything again after ten hours, give or take, at low priority', async () => {
    const server = new SmallApiServer();
    for (const name of ['a', 'b']) server.put(ConfigMap, map(name));
    const seen: string[] = [];
    const { clock } = await setUp(
      controller(ConfigMap)
        .when(matching((object) => object.metadata?.name !== 'b'))
        .reconcile(({ key, causes }) => {
          seen.push(`${key.name} ${causes[0]?.by}`);
        }),
      { server },
    );
    await clock.advance(36_000_000);
    await clock.advance(36_000_000);
    expect(seen).toEqual(['a watch', 'a resync', 'a resync']);
  });

  it.each([
    ['whole', 'full' as const],
    ['without its metadata', project((object: ConfigMap) => ({ keys: Object.keys(object.data ?? {}) }))],
  ])('leaves a paused object alone that is kept %s', async (_, view) => {
    const server = new SmallApiServer();
    server.put(ConfigMap, map('a', { annotations: { 'bowline.dev/paused': 'true' } }));
    const seen: string[] = [];
    const declared = controller(ConfigMap, { view }).reconcile(({ key }) => void seen.push(key.name));
    const { settled } = await setUp(declared, { server });
    server.put(ConfigMap, map('b'));
    await settled();
    expect(seen).toEqual(['b']);
    server.put(ConfigMap, map('a', { annotations: { 'bowline.dev/paused': 'false' } }));
    await settled();
    expect(seen).toEqual(['b', 'a']);
  });

  it('leaves paused objects alone, visibly, and resumes them whatever the predicates say', async () => {
    const server = new SmallApiServer();
    const paused = { annotations: { 'bowline.dev/paused': 'true' }, generation: 1 };
    server.put(ConfigMap, map('a', paused));
    let runs = 0;
    const { runner, settled, metrics } = await setUp(
      controller(ConfigMap)
        .when(generationChanged)
        .reconcile(() => {
          runs++;
        }),
      { server },
    );
    expect(runs).toBe(0);
    expect(runner.pausedKeys()).toEqual(['default/a']);
    expect(await metrics.render()).toContain('bowline_paused_objects{controller="configmap"} 1');
    server.put(ConfigMap, map('a', { generation: 1 }));
    await settled();
    expect(runs).toBe(1);
    expect(runner.pausedKeys()).toEqual([]);
    server.put(ConfigMap, map('a', paused));
    server.put(ConfigMap, map('a', { ...paused, generation: 2 }));
    await settled();
    expect(runs).toBe(1);
  });

  it('sees its own writes at once, and the server refuses nothing it does twice', async () => {
    const server = new SmallApiServer();
    server.put(ConfigMap, map('a'));
    const found: (string | undefined)[] = [];
    const { settled } = await setUp(
      controller(ConfigMap)
        .owns(Secret)
        .reconcile(async ({ key, object, get, live }) => {
          const wanted = { namespace: 'default', name: `${key.name}-child` };
          found.push(get(Secret, wanted)?.metadata?.uid);
          if (get(Secret, wanted)) return;
          await live.create(Secret, { metadata: { ...wanted, ...ownedBy(object) } });
          found.push(get(Secret, wanted)?.metadata?.uid);
          await live.delete(Secret, wanted);
          found.push(get(Secret, wanted)?.metadata?.uid);
          await live.create(Secret, { metadata: { ...wanted, ...ownedBy(object) } });
          found.push(get(Secret, wanted)?.metadata?.uid);
        }),
      { server },
    );
    await settled();
    expect(found.slice(0, 4)).toEqual([undefined, 'uid-2', undefined, 'uid-3']);
    expect(new Set(found.slice(4))).toEqual(new Set(['uid-3']));
    expect(server.writes()).toHaveLength(3);
  });

  it('ties the requests of a reconcile to its signal', async () => {
    const errors: unknown[] = [];
    const { server, clock, runner, until } = await setUp(
      controller(ConfigMap, { timeoutMs: 1_000 }).reconcile(async ({ live, clock, key }) => {
        await clock.sleep(5_000);
        await live.find(ConfigMap, key).catch((error: unknown) => errors.push(error));
      }),
    );
    server.put(ConfigMap, map('a'));
    await until(() => runner.entries().length > 0);
    await clock.advance(1_000);
    expect(runner.overdueKeys()).toEqual(['default/a']);
    await clock.advance(4_000);
    await until(() => errors.length > 0);
    expect(errors[0]).toMatchObject({ code: 'BOWLINE_RECONCILE_TIMEOUT' });
  });

  it('puts controller, namespace, name and reconcileId on every line', async () => {
    const lines: Fields[] = [];
    const log = (fields: Fields): Log => {
      const write = (message: string, more: Fields = {}): void => void lines.push({ message, ...fields, ...more });
      return { debug: write, info: write, warn: write, error: write, with: (more) => log({ ...fields, ...more }) };
    };
    const server = new SmallApiServer();
    server.put(ConfigMap, map('a'));
    await setUp(
      controller(ConfigMap, { name: 'maps' }).reconcile(({ log }) => {
        log.info('hello', { extra: 1 });
        throw new Error('broken');
      }),
      { server, log: log({}) },
    );
    const named = {
      controller: 'maps',
      namespace: 'default',
      name: 'a',
      reconcileId: expect.stringMatching(/^\w+-1$/),
    };
    expect(lines.find((line) => line.message === 'hello')).toEqual({ message: 'hello', extra: 1, ...named });
    expect(lines.find((line) => line.message === 'reconcile failed')).toMatchObject(named);
  });
});

describe('owned objects', () => {
  it('bring their controlling owner, before and after a change of it, if its uid is the right one', async () => {
    const server = new SmallApiServer();
    const a = server.put(ConfigMap, map('a'));
    const b = server.put(ConfigMap, map('b'));
    const seen: string[] = [];
    const { settled } = await setUp(
      controller(ConfigMap)
        .owns(Secret, { view: 'metadata' })
        .reconcile(({ key, causes }) => {
          for (const cause of causes) if (cause.by === 'owner') seen.push(`${key.name}: ${describeCause(cause)}`);
        }),
      { server },
    );
    const child = (more: object): Secret => ({ metadata: { name: 'child', namespace: 'default', ...more } });
    server.put(Secret, child(ownedBy(a)));
    await settled();
    expect(seen.splice(0)).toEqual(['a: add of owned Secret default/child']);
    server.put(Secret, child(ownedBy(b)));
    await settled();
    expect(seen.splice(0).sort()).toEqual([
      'a: update of owned Secret default/child',
      'b: update of owned Secret default/child',
    ]);
    server.remove(Secret, { namespace: 'default', name: 'child' });
    await settled();
    expect(seen.splice(0)).toEqual(['b: delete of owned Secret default/child']);
    server.put(Secret, child(ownedBy(a, 'uid-of-a-former-a')));
    server.put(
      Secret,
      child({ ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'b', uid: b.metadata?.uid ?? '' }] }),
    );
    server.put(
      Secret,
      child({
        ownerReferences: [
          { apiVersion: 'x/v1', kind: 'ConfigMap', name: 'b', uid: b.metadata?.uid ?? '', controller: true },
        ],
      }),
    );
    await settled();
    expect(seen).toEqual([]);
  });
});

describe('watched objects', () => {
  it('bring the keys that they concern before and after a change', async () => {
    const server = new SmallApiServer();
    for (const name of ['a', 'b', 'c']) server.put(ConfigMap, map(name));
    const seen: string[] = [];
    const { settled } = await setUp(
      controller(ConfigMap)
        .watches(Secret, {
          map: (secret) => (secret.type ? [{ namespace: 'default', name: secret.type }] : []),
        })
        .reconcile(({ key, causes }) => {
          for (const cause of causes) if (cause.by === 'map') seen.push(`${key.name}: ${describeCause(cause)}`);
        }),
      { server },
    );
    server.put(Secret, { metadata: { namespace: 'x', name: 's' }, type: 'a' });
    await settled();
    expect(seen.splice(0)).toEqual(['a: add of watched Secret x/s']);
    server.put(Secret, { metadata: { namespace: 'x', name: 's' }, type: 'b' });
    await settled();
    expect(seen.splice(0).sort()).toEqual(['a: update of watched Secret x/s', 'b: update of watched Secret x/s']);
    server.remove(Secret, { namespace: 'x', name: 's' });
    await settled();
    expect(seen.splice(0)).toEqual(['b: delete of watched Secret x/s']);
  });

  it('may be mapped with the help of other sources and their indexes', async () => {
    const server = new SmallApiServer();
    server.put(ConfigMap, map('a', { labels: { team: 'red' } }));
    server.put(ConfigMap, map('b', { labels: { team: 'blue' } }));
    server.put(Namespace, { metadata: { name: 'red' } });
    const seen: string[] = [];
    const { settled } = await setUp(
      controller(ConfigMap, { indexes: { team: (object) => [object.metadata?.labels?.team ?? ''] } })
        .watches(Namespace, {
          view: 'metadata',
          map: ({ metadata }, cache) => cache.list(ConfigMap, { by: { team: metadata.name ?? '' } }).map(keyOf),
        })
        .reconcile(({ key, causes, list }) => {
          expect(list(ConfigMap)).toHaveLength(2);
          if (causes.some((cause) => cause.by === 'map')) seen.push(key.name);
        }),
      { server },
    );
    seen.splice(0);
    server.put(Namespace, { metadata: { name: 'blue' } });
    await settled();
    expect(seen).toEqual(['b']);
  });

  it('are narrowed by their own predicates, scope and view; two sources of one kind are told apart by name', async () => {
    const server = new SmallApiServer();
    server.put(ConfigMap, map('source', { labels: { role: 'source' } }));
    const seen: string[] = [];
    const size = project((object: ConfigMap) => ({
      metadata: object.metadata ?? {},
      size: Object.keys(object.data ?? {}).length,
    }));
    const { settled } = await setUp(
      controller(ConfigMap, { labelSelector: 'role=source' })
        .watches(ConfigMap, {
          as: 'copies',
          labelSelector: 'role=copy',
          view: size,
          when: ({ previous, current }) => previous?.size !== current?.size,
          map: () => [{ namespace: 'default', name: 'source' }],
        })
        .watches(Secret, {
          view: trigger(({ name }) => name === 'kept'),
          map: () => [{ namespace: 'default', name: 'source' }],
        })
        .reconcile(({ causes, list }) => {
          seen.push(`${causes.map(describeCause)} with ${list('copies').map((copy) => copy.size)}`);
        }),
      { server },
    );
    seen.splice(0);
    server.put(ConfigMap, map('copy', { labels: { role: 'copy' } }, { a: '1' }));
    await settled();
    server.put(ConfigMap, map('copy', { labels: { role: 'copy' } }, { a: '2' }));
    server.put(ConfigMap, map('other', {}, { a: '2' }));
    server.put(Secret, { metadata: { namespace: 'default', name: 'dropped' } });
    await settled();
    server.put(Secret, { metadata: { namespace: 'default', name: 'kept' } });
    await settled();
    expect(seen).toEqual(['add of watched ConfigMap default/copy with 1', 'add of watched Secret default/kept with 1']);
  });

  it('may ask the cache which keys matter, and tell the end of an object that did not matter when it last changed', async () => {
    const server = new SmallApiServer();
    server.put(Secret, { metadata: { namespace: 'default', name: 'wanted' } });
    server.put(Secret, { metadata: { namespace: 'default', name: 'other' } });
    const seen: string[] = [];
    const wanted = trigger(({ name }, _, cache) => cache.list(ConfigMap, { by: { wants: name } }).length > 0);
    const { settled } = await setUp(
      controller(ConfigMap, { indexes: { wants: ({ data }) => [data?.wants ?? ''] } })
        .watches(Secret, { view: wanted, map: () => [{ namespace: 'default', name: 'a' }] })
        .reconcile(({ causes }) => {
          seen.push(...causes.map(describeCause));
        }),
      { server },
    );
    server.put(ConfigMap, map('a', {}, { wants: 'wanted' }));
    await settled();
    seen.splice(0);
    server.remove(Secret, { namespace: 'default', name: 'other' });
    server.remove(Secret, { namespace: 'default', name: 'wanted' });
    await settled();
    expect(seen).toEqual(['delete of watched Secret default/wanted']);
  });

  it('lose only the event whose map function throws', async () => {
    const server = new SmallApiServer();
    server.put(ConfigMap, map('a'));
    let mapped = 0;
    const { settled, metrics } = await setUp(
      controller(ConfigMap)
        .watches(Secret, {
          map: ({ metadata }) => {
            if (metadata?.name === 'bad') throw new Error('broken map');
            return [{ namespace: 'default', name: 'a' }];
          },
        })
        .reconcile(({ causes }) => {
          mapped += causes.filter((cause) => cause.by === 'map').length;
        }),
      { server },
    );
    server.put(Secret, { metadata: { namespace: 'default', name: 'bad' } });
    server.put(Secret, { metadata: { namespace: 'default', name: 'good' } });
    await settled();
    expect(mapped).toBe(1);
    expect(await metrics.render()).toContain('bowline_map_errors_total{controller="configmap"} 1');
  });
});

describe('a keyed controller', () => {
  it('has the strings that its map functions name as keys, enqueues others, and resyncs through its maps', async () => {
    const server = new SmallApiServer();
    server.put(Secret, { metadata: { namespace: 'default', name: 's' } });
    const seen: string[] = [];
    const { clock, settled } = await setUp(
      keyed('bundle')
        .using<{ greeting: string }>()
        .watches(Secret, { view: 'metadata', map: ({ metadata }) => [`bundle of ${metadata.name}`] })
        .reconcile(({ key, causes, deps, enqueue }) => {
          seen.push(`${deps.greeting} ${key}: ${causes.map(describeCause)}`);
          if (seen.length === 1) enqueue('another', { afterMs: 1_000 });
        }),
      { server, deps: { greeting: 'hello' } },
    );
    await clock.advance(1_000);
    server.remove(Secret, { namespace: 'default', name: 's' });
    await settled();
    server.put(Secret, { metadata: { namespace: 'default', name: 't' } });
    await settled();
    await clock.advance(40_000_000);
    expect(seen).toEqual([
      'hello bundle of s: add of watched Secret default/s',
      'hello another: enqueued by bundle',
      'hello bundle of s: delete of watched Secret default/s',
      'hello bundle of t: add of watched Secret default/t',
      'hello bundle of t: resync',
    ]);
  });

  it('tells people of objects when something begins, also from a run that fails, but not from one that collided', async () => {
    const server = new SmallApiServer();
    server.serve(Event);
    const ends: (Error | undefined)[] = [];
    const { settled } = await setUp(
      keyed('asking')
        .watches(Secret, { view: 'metadata', map: () => ['all'] })
        .reports(Secret)
        .reconcile(({ list, eventAbout }) => {
          for (const { metadata } of list(Secret)) {
            const { namespace, name = '', uid = '' } = metadata;
            const subject = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name, uid } };
            eventAbout(subject, 'Warning', metadata.labels?.state ?? 'New', 'it is so');
          }
          const end = ends.shift();
          if (end !== undefined) throw end;
        }),
      { server },
    );
    const put = async (name: string, state: string, end?: Error): Promise<string[]> => {
      ends.push(end);
      const before = server.writes().length;
      server.put(Secret, { metadata: { namespace: 'default', name, labels: { state } } });
      await settled();
      return server.writes().slice(before);
    };
    const created = 'POST /apis/events.k8s.io/v1/namespaces/default/events';
    expect(await put('a', 'Broken')).toEqual([created]);
    expect(await put('b', 'Broken')).toEqual([created]);
    expect(await put('a', 'Broken')).toEqual([]);
    expect(await put('a', 'Worse', slow('Later', 'not now'))).toEqual([created]);
    expect(await put('b', 'Lost', new TypeError('cannot'))).toEqual([created]);
    const conflict = new ApiError({ request: { verb: 'patch', path: '/' }, status: 409 });
    expect(await put('a', 'Collided', conflict)).toEqual([]);
  });
});
