import { ConfigMap, type KubernetesObject, keyOf, Namespace, Secret } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { describe, expect, it } from 'vitest';
import { project, trigger } from '../cache/view.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Fields, Log } from '../observability/log.ts';
import { describeCause } from '../queue/cause.ts';
import { MemoryApiServer } from '../testing/memory-api-server.ts';
import { controller, keyed } from './builder.ts';
import { generationChanged, labelsChanged, matching } from './predicates.ts';
import { slow } from './reconcile-error.ts';
import { collectingLog, runController } from './run-controller.test-support.ts';

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

describe('a controller of a kind', () => {
  it('reconciles existing objects at low priority, then every change at normal priority, each with its cause', async () => {
    const server = new MemoryApiServer();
    server.put(ConfigMap, map('a'));
    const seen: string[] = [];
    const { settled } = await runController(
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

  it('never reconciles a deleted key, and forgets its pending retry', async () => {
    const server = new MemoryApiServer();
    server.put(ConfigMap, map('a'));
    let runs = 0;
    const { runner, settled } = await runController(
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
    const server = new MemoryApiServer();
    server.put(ConfigMap, map('a', { labels: { v: '1' } }));
    let runs = 0;
    const { settled } = await runController(
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

  it('accepts an event whose predicate throws', async () => {
    const server = new MemoryApiServer();
    server.put(ConfigMap, map('a'));
    let runs = 0;
    const { metrics } = await runController(
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

  it('resyncs all objects after about ten hours, at low priority', async () => {
    const server = new MemoryApiServer();
    for (const name of ['a', 'b']) server.put(ConfigMap, map(name));
    const seen: string[] = [];
    const { clock } = await runController(
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
  ])('does not reconcile a paused object that is kept %s', async (_, view) => {
    const server = new MemoryApiServer();
    server.put(ConfigMap, map('a', { annotations: { 'bowline.dev/paused': 'true' } }));
    const seen: string[] = [];
    const declared = controller(ConfigMap, { view }).reconcile(({ key }) => void seen.push(key.name));
    const { settled } = await runController(declared, { server });
    server.put(ConfigMap, map('b'));
    await settled();
    expect(seen).toEqual(['b']);
    server.put(ConfigMap, map('a', { annotations: { 'bowline.dev/paused': 'false' } }));
    await settled();
    expect(seen).toEqual(['b', 'a']);
  });

  it('does not reconcile paused objects, reports them, and resumes them regardless of predicates', async () => {
    const server = new MemoryApiServer();
    const paused = { annotations: { 'bowline.dev/paused': 'true' }, generation: 1 };
    server.put(ConfigMap, map('a', paused));
    let runs = 0;
    const { runner, settled, metrics } = await runController(
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

  it('sees its own writes immediately, and repeats none of them', async () => {
    const server = new MemoryApiServer();
    server.put(ConfigMap, map('a'));
    const found: (string | undefined)[] = [];
    const { settled } = await runController(
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
    const { server, clock, runner, until } = await runController(
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

  it('adds controller, namespace, name and reconcileId to every log line', async () => {
    const lines: Fields[] = [];
    const log = (fields: Fields): Log => {
      const write = (message: string, more: Fields = {}): void => void lines.push({ message, ...fields, ...more });
      return { debug: write, info: write, warn: write, error: write, with: (more) => log({ ...fields, ...more }) };
    };
    const server = new MemoryApiServer();
    server.put(ConfigMap, map('a'));
    await runController(
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
  it('enqueue their controlling owner, before and after a change of owner, if its uid matches', async () => {
    const server = new MemoryApiServer();
    const a = server.put(ConfigMap, map('a'));
    const b = server.put(ConfigMap, map('b'));
    const seen: string[] = [];
    const { settled } = await runController(
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
  it('enqueue the keys that they map to before and after a change', async () => {
    const server = new MemoryApiServer();
    for (const name of ['a', 'b', 'c']) server.put(ConfigMap, map(name));
    const seen: string[] = [];
    const { settled } = await runController(
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
    const server = new MemoryApiServer();
    server.put(ConfigMap, map('a', { labels: { team: 'red' } }));
    server.put(ConfigMap, map('b', { labels: { team: 'blue' } }));
    server.put(Namespace, { metadata: { name: 'red' } });
    const seen: string[] = [];
    const { settled } = await runController(
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

  it('are narrowed by their own predicates, scope and view; two sources of one kind are distinguished by name', async () => {
    const server = new MemoryApiServer();
    server.put(ConfigMap, map('source', { labels: { role: 'source' } }));
    const seen: string[] = [];
    const size = project((object: ConfigMap) => ({
      metadata: object.metadata ?? {},
      size: Object.keys(object.data ?? {}).length,
    }));
    const { settled } = await runController(
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

  it('may use the cache to decide whether they are relevant, also on deletion of an object that was irrelevant before', async () => {
    const server = new MemoryApiServer();
    server.put(Secret, { metadata: { namespace: 'default', name: 'wanted' } });
    server.put(Secret, { metadata: { namespace: 'default', name: 'other' } });
    const seen: string[] = [];
    const wanted = trigger(({ name }, _, cache) => cache.list(ConfigMap, { by: { wants: name } }).length > 0);
    const { settled } = await runController(
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

  it('are mapped again after a backoff when their map function threw, which is logged once', async () => {
    const server = new MemoryApiServer();
    server.put(ConfigMap, map('a'));
    let isBroken = true;
    const mapped: string[] = [];
    const lines: string[] = [];
    const { settled, metrics, clock } = await runController(
      controller(ConfigMap)
        .watches(Secret, {
          map: ({ metadata, type }) => {
            if (isBroken && metadata?.name?.startsWith('bad')) throw new Error('broken map');
            return [{ namespace: 'default', name: type ?? 'a' }];
          },
        })
        .reconcile(({ causes }) => {
          mapped.push(...causes.filter(({ by }) => by === 'map').map(describeCause));
        }),
      { server, log: collectingLog(lines, 'error', 'info') },
    );
    for (const name of ['bad', 'bad-too', 'good']) server.put(Secret, { metadata: { namespace: 'default', name } });
    await settled();
    expect(mapped.splice(0)).toEqual(['add of watched Secret default/good']);
    expect(await metrics.render()).toContain('bowline_unmapped_objects{controller="configmap"} 2');
    // It keeps failing, and a later change fails too; the keys that it concerned before are not forgotten when it is
    // deleted.
    await clock.advance(4_000);
    server.put(Secret, { metadata: { namespace: 'default', name: 'bad' }, type: 'a' });
    server.remove(Secret, { namespace: 'default', name: 'bad' });
    await settled();
    expect(mapped).toEqual([]);
    isBroken = false;
    await clock.advance(10_000);
    await settled();
    expect(new Set(mapped)).toEqual(
      new Set(['delete of watched Secret default/bad', 'add of watched Secret default/bad-too']),
    );
    expect(lines).toEqual(['controller started', 'map function threw, retrying', 'map function works again']);
    expect(await metrics.render()).toContain('bowline_unmapped_objects{controller="configmap"} 0');
    expect(await metrics.render()).toMatch(/bowline_map_errors_total\{controller="configmap"\} \d+/);
  });

  it('are all mapped again when more of them failed than are remembered', async () => {
    const server = new MemoryApiServer();
    let isBroken = true;
    for (let n = 0; n < 1_500; n++) server.put(Secret, { metadata: { namespace: 'default', name: `s${n}` } });
    const seen = new Set<string>();
    const { metrics, clock, settled } = await runController(
      keyed('all')
        .watches(Secret, {
          view: 'metadata',
          map: ({ metadata }) => {
            if (isBroken) throw new Error('broken map');
            return [metadata.name ?? ''];
          },
        })
        .reconcile(({ key }) => void seen.add(key)),
      { server },
    );
    expect(await metrics.render()).toContain('bowline_unmapped_objects{controller="all"} 1001');
    isBroken = false;
    await clock.advance(1_000);
    await settled();
    expect(seen.size).toBe(1_500);
    expect(await metrics.render()).toContain('bowline_unmapped_objects{controller="all"} 0');
  });
});

describe('a keyed controller', () => {
  it('uses the strings that its map functions return as keys, enqueues others, and resyncs through its map functions', async () => {
    const server = new MemoryApiServer();
    server.put(Secret, { metadata: { namespace: 'default', name: 's' } });
    const seen: string[] = [];
    const { clock, settled } = await runController(
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

  it('is not needed to send events about other objects: a controller of a kind may declare the kinds that it reports on', async () => {
    const server = new MemoryApiServer();
    server.serve(Event);
    server.put(ConfigMap, map('a'));
    server.put(Secret, { metadata: { namespace: 'default', name: 's' } });
    const { settled } = await runController(
      controller(ConfigMap)
        .watches(Secret, { view: 'metadata', map: () => [{ namespace: 'default', name: 'a' }] })
        .reports(Secret)
        .reconcile(({ list, event, eventAbout }) => {
          event('Normal', 'Seen', 'it was seen');
          for (const { metadata } of list(Secret)) {
            const { namespace, name = '', uid = '' } = metadata;
            const subject = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name, uid } };
            eventAbout(subject, 'Warning', 'Unused', 'nothing uses it');
          }
        }),
      { server },
    );
    server.put(Secret, { metadata: { namespace: 'default', name: 's', labels: { again: 'yes' } } });
    await settled();
    expect(server.all(Event).map(({ regarding, reason }) => `${regarding?.kind} ${regarding?.name} ${reason}`)).toEqual(
      // Warnings are sent first.
      ['Secret s Unused', 'ConfigMap a Seen'],
    );
  });

  it('sends events about objects when a state begins, also from a run that fails, but not from one that had a conflict', async () => {
    const server = new MemoryApiServer();
    server.serve(Event);
    const ends: (Error | undefined)[] = [];
    const { settled } = await runController(
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

  it('delivers the warnings of every tenant while two thousand objects fail in one namespace', async () => {
    const server = new MemoryApiServer();
    server.serve(Event);
    const namespaces = ['storm', ...Array.from({ length: 30 }, (_, index) => `tenant-${index}`)];
    for (let n = 0; n < 2_000; n++) server.put(Secret, { metadata: { namespace: 'storm', name: `s${n}` } });
    for (const namespace of namespaces) server.put(Secret, { metadata: { namespace, name: 'last' } });
    const { until } = await runController(
      keyed('asking')
        .watches(Secret, { view: 'metadata', map: ({ metadata }) => [metadata.namespace ?? ''] })
        .reports(Secret)
        .reconcile(({ key, list, eventAbout }) => {
          for (const { metadata } of list(Secret, { namespace: key })) {
            const { namespace, name = '', uid = '' } = metadata;
            const subject = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name, uid } };
            eventAbout(subject, 'Warning', 'Broken', 'it is broken');
          }
        }),
      { server },
    );
    await until(() => server.all(Event).length === 2_031);
    const seen = server.all(Event).slice(0, 500);
    expect(new Set(seen.map(({ metadata }) => metadata?.namespace))).toEqual(new Set(namespaces));
  });
});
