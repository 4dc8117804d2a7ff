import { ConfigMap, Lease, type Resource, resource, Secret } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { controller } from '../controller/builder.ts';
import type { Fields, Log } from '../observability/log.ts';
import { defineOperator, type Operator } from '../operator/operator.ts';
import { allow } from '../permissions/permission.ts';
import { MemoryApiServer } from '../testing/memory-api-server.ts';
import { Manager } from './manager.ts';
import type { ManagerOptions } from './manager-options.ts';

interface Site {
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
}
const Site: Resource<Site, 'Site.v1.example.dev'> = resource({
  group: 'example.dev',
  version: 'v1',
  kind: 'Site',
  plural: 'sites',
  scope: 'Namespaced',
});

const key = { namespace: 'default', name: 'a' };
const a: ConfigMap = { metadata: key };
const leaseOf = (operator: string) => ({ namespace: 'bowline-system', name: `bowline-${operator}` });

/** setUp creates a manager with virtual time for leases, watches and reconciles. */
function setUp(
  operators: readonly Operator[],
  options: Partial<ManagerOptions> & { world?: ReturnType<typeof world> } = {},
) {
  const { server, clock } = options.world ?? world();
  const lines: { message: string; fields: Fields }[] = [];
  const log = (fields: Fields): Log => {
    const write = (message: string, more: Fields = {}): void =>
      void lines.push({ message, fields: { ...fields, ...more } });
    return { debug: write, info: write, warn: write, error: write, with: (more) => log({ ...fields, ...more }) };
  };
  const manager = new Manager({
    operators,
    clientFor: (operator) => createClient({ transport: server.transport(operator.name), clock, wire: clock }),
    clock,
    wire: clock,
    random: { next: () => 0.5 },
    log: log({}),
    healthAddress: '127.0.0.1:0',
    metricsAddress: '0',
    ...options,
  });
  const stop = new AbortController();
  const running = manager.run(stop.signal).then(
    () => 'resolved' as const,
    (error: unknown) => error,
  );
  const until = async (condition: () => boolean, stepMs = 0): Promise<void> => {
    for (let turn = 0; turn < 1_000 && !condition(); turn++) await clock.advance(stepMs);
    expect(condition()).toBe(true);
  };
  onTestFinished(async () => {
    stop.abort();
    await clock.advance(60_000);
    await running;
  });
  const probe = async (path: string): Promise<{ status: number; text: string }> => {
    const response = await fetch(`http://127.0.0.1:${manager.ports.health}${path}?verbose`);
    return { status: response.status, text: await response.text() };
  };
  return { server, clock, manager, stop, running, until, probe, lines };
}

function world() {
  const clock = new VirtualClock();
  return { clock, server: new MemoryApiServer({ wire: clock }) };
}

/** writer returns an operator that writes one Secret per ConfigMap and records what it did. */
function writer(name: string, seen: string[] = []) {
  return defineOperator({
    name,
    domain: 'bowline.dev',
    permissions: [allow(['create'], Secret)],
    controllers: [
      controller(ConfigMap, { name }).reconcile(async ({ key, live }) => {
        seen.push(key.name);
        await live.create(Secret, { metadata: { namespace: key.namespace ?? '', name: `${name}-${key.name}` } });
      }),
    ],
  });
}

const isLeading = ({ manager }: { manager: Manager }) => manager.status().some((each) => each.state === 'leading');

describe('Manager', () => {
  it('acquires the Lease, works, and on stop releases it and resolves without leaving a timer or a watch', async () => {
    const seen: string[] = [];
    const m = setUp([writer('one', seen)]);
    m.server.put(ConfigMap, a);
    await m.until(() => seen.length === 1);
    expect(m.server.get(Lease, leaseOf('one'))?.spec?.holderIdentity).toMatch(/_\w+$/);
    m.stop.abort();
    await m.until(() => m.manager.status()[0]?.state === 'stopped');
    expect(await m.running).toBe('resolved');
    expect(m.server.get(Lease, leaseOf('one'))?.spec?.holderIdentity ?? '').toBe('');
    expect(m.clock.pendingTimers).toBe(0);
    await expect(m.manager.run(m.stop.signal)).rejects.toMatchObject({ code: 'BOWLINE_MANAGER_RUNS_ONCE' });
  });

  it('keeps its caches warm without leadership, writes nothing, is ready, and takes over when the Lease is released', async () => {
    const shared = world();
    shared.server.put(ConfigMap, a);
    const first = setUp([writer('one')], { world: shared });
    await first.until(() => isLeading(first));
    const seen: string[] = [];
    const second = setUp([writer('one', seen)], { world: shared });
    await second.until(() => second.manager.status()[0]?.holder !== undefined);
    await second.until(() => second.manager.status()[0]?.controllers[0]?.waitsFor.length === 0);
    expect(second.manager.status()).toMatchObject([{ state: 'standby', controllers: [{ state: 'idle', keys: [] }] }]);
    expect(await second.probe('/readyz')).toMatchObject({ status: 200, text: expect.stringContaining('standby,') });
    const watches = (): number => shared.server.requests.filter(({ path }) => /configmaps\?.*watch/.test(path)).length;
    const before = watches();

    first.stop.abort();
    await second.until(() => seen.length === 1, 100);
    expect(await first.running).toBe('resolved');
    expect(watches()).toBe(before);
  });

  it('refuses writes of setup until it leads, but allows reads', async () => {
    const errors: unknown[] = [];
    const m = setUp([
      defineOperator({
        name: 'eager',
        domain: 'bowline.dev',
        permissions: [allow(['get', 'create'], ConfigMap)],
        setup: async ({ client, namespace }) => {
          expect(await client.find(ConfigMap, key)).toBeUndefined();
          await client
            .create(ConfigMap, { metadata: { namespace, name: 'x' } })
            .catch((error: unknown) => errors.push(error));
        },
        services: [{ name: 'idle', run: async () => {} }],
      }),
    ]);
    await m.until(() => isLeading(m));
    expect(errors).toMatchObject([{ code: 'BOWLINE_NOT_LEADER' }]);
    expect(m.server.writes()).toEqual([]);
  });

  it('passes the manager clock and random source to setup', async () => {
    let given: unknown[] = [];
    const m = setUp([
      defineOperator({
        name: 'chancy',
        domain: 'bowline.dev',
        setup: ({ clock, random }) => {
          given = [clock.now(), random.next()];
        },
        services: [{ name: 'idle', run: async () => {} }],
      }),
    ]);
    await m.until(() => given.length > 0);
    expect(given).toEqual([expect.any(Number), 0.5]);
  });

  it.each(['registry.example.com/bowline:1', undefined])('passes the image %s to setup', async (image) => {
    let given: unknown[] = [];
    const m = setUp(
      [
        defineOperator({
          name: 'nested',
          domain: 'bowline.dev',
          setup: (context) => {
            given = [context.image];
          },
          services: [{ name: 'idle', run: async () => {} }],
        }),
      ],
      { image },
    );
    await m.until(() => given.length > 0);
    expect(given).toEqual([image]);
  });

  it('works immediately without leader election', async () => {
    const seen: string[] = [];
    const m = setUp([writer('one', seen)], { leaderElection: false });
    m.server.put(ConfigMap, a);
    await m.until(() => m.server.writes().length === 1);
    expect(m.server.requests.filter(({ path }) => path.includes('leases'))).toEqual([]);
  });

  describe('when a Lease is lost', () => {
    it('stops that operator immediately, drains and releases the others, and rejects with the reason', async () => {
      let finish: () => void = () => {};
      const events: string[] = [];
      const slowly = defineOperator({
        name: 'slowly',
        domain: 'bowline.dev',
        controllers: [
          controller(ConfigMap, { name: 'slowly' }).reconcile(async () => {
            events.push('slowly began');
            await new Promise<void>((resolve) => {
              finish = resolve;
            });
            events.push('slowly ended');
          }),
        ],
      });
      const doomed = defineOperator({
        name: 'doomed',
        domain: 'bowline.dev',
        permissions: [allow(['delete'], ConfigMap)],
        controllers: [
          controller(ConfigMap, { name: 'doomed' }).reconcile(async ({ signal, live, key }) => {
            events.push('doomed began');
            await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
            events.push(`doomed aborted: ${(signal.reason as { code?: string }).code}`);
            await live
              .delete(ConfigMap, key)
              .catch((error: { code?: string }) => events.push(`refused: ${error.code}`));
          }),
        ],
      });
      const m = setUp([doomed, slowly]);
      m.server.put(ConfigMap, a);
      await m.until(() => events.length === 2);
      // The doomed operator's identity can no longer reach its Lease; the other's can.
      m.server.rejectWith = ({ path, user }) => (user === 'doomed' && path.includes('/leases') ? 503 : undefined);
      await m.until(() => events.length > 3, 500);
      expect(events.slice(2)).toEqual(['doomed aborted: BOWLINE_LEADERSHIP_LOST', 'refused: BOWLINE_LEADERSHIP_LOST']);
      expect(await m.probe('/readyz')).toMatchObject({ status: 503, text: expect.stringContaining('stopping') });
      expect(m.server.get(Lease, leaseOf('slowly'))?.spec?.holderIdentity).not.toBe('');

      finish();
      await m.until(() => m.manager.status().every((each) => each.state === 'stopped'));
      expect(await m.running).toMatchObject({ code: 'BOWLINE_LEADERSHIP_LOST' });
      expect(events.at(-1)).toBe('slowly ended');
      expect(m.server.get(Lease, leaseOf('slowly'))?.spec?.holderIdentity ?? '').toBe('');
      expect(m.server.writes()).toEqual([]);
    });
  });

  describe('on stop', () => {
    it('lets a running reconcile finish its write under the Lease, and starts no further key', async () => {
      let finish: () => void = () => {};
      const seen: string[] = [];
      const m = setUp([
        defineOperator({
          name: 'slow',
          domain: 'bowline.dev',
          permissions: [allow(['create'], Secret)],
          controllers: [
            controller(ConfigMap).reconcile(async ({ key, live }) => {
              seen.push(key.name);
              await new Promise<void>((resolve) => {
                finish = resolve;
              });
              await live.create(Secret, { metadata: { namespace: 'default', name: 'late' } });
            }),
          ],
        }),
      ]);
      m.server.put(ConfigMap, a);
      m.server.put(ConfigMap, { metadata: { ...key, name: 'b' } });
      await m.until(() => seen.length === 1);
      m.stop.abort();
      await m.clock.advance(29_000);
      expect(m.server.get(Lease, leaseOf('slow'))?.spec?.holderIdentity).not.toBe('');
      finish();
      await m.until(() => m.manager.status()[0]?.state === 'stopped');
      expect(await m.running).toBe('resolved');
      expect(m.server.writes()).toEqual(['POST /api/v1/namespaces/default/secrets']);
      expect(seen).toEqual(['a']);
    });

    it('waits no longer than the drain timeout for a reconcile that never ends', async () => {
      let started = false;
      const m = setUp([
        defineOperator({
          name: 'stuck',
          domain: 'bowline.dev',
          controllers: [
            controller(ConfigMap).reconcile(() => {
              started = true;
              return new Promise(() => {});
            }),
          ],
        }),
      ]);
      m.server.put(ConfigMap, a);
      await m.until(() => started);
      m.stop.abort();
      await m.clock.advance(29_999);
      expect(m.manager.status()[0]?.state).toBe('draining');
      await m.clock.advance(1);
      expect(await m.running).toBe('resolved');
      expect(m.lines).toContainEqual(
        expect.objectContaining({
          message: 'controller stopped before all reconciles had ended',
          fields: expect.objectContaining({ keys: ['default/a'] }),
        }),
      );
    });
  });

  it('serves what it can when a kind may not be read, reports why, and starts the rest once it may', async () => {
    const seen: string[] = [];
    const forbidden = controller(Secret, { name: 'forbidden' }).reconcile(
      ({ key }) => void seen.push(`secret ${key.name}`),
    );
    const allowed = controller(ConfigMap, { name: 'allowed' }).reconcile(
      ({ key }) => void seen.push(`map ${key.name}`),
    );
    const shared = world();
    shared.server.rejectWith = ({ path }) => (path.includes('/secrets') ? 403 : undefined);
    shared.server.put(ConfigMap, a);
    shared.server.put(Secret, { metadata: key });
    const m = setUp([defineOperator({ name: 'half', domain: 'bowline.dev', controllers: [forbidden, allowed] })], {
      world: shared,
    });
    await m.until(() => seen.length === 1);
    expect(seen).toEqual(['map a']);
    expect(m.manager.status()[0]?.controllers).toMatchObject([{ state: 'waiting' }, { state: 'running' }]);
    expect(await m.probe('/readyz')).toMatchObject({
      status: 503,
      text: expect.stringMatching(/\[-\]controller-forbidden failed: waiting for Secret/),
    });

    await m.clock.advance(120_000);
    const after = await m.probe('/readyz');
    expect(after).toMatchObject({
      status: 200,
      text: expect.stringMatching(/\[\+\]controller-forbidden ok: waiting for Secret/),
    });
    expect(m.lines.filter((line) => line.message.startsWith('controller is still waiting'))).toHaveLength(1);
    expect(await m.probe('/livez')).toMatchObject({ status: 200 });

    shared.server.rejectWith = () => undefined;
    await m.until(() => seen.includes('secret a'), 1_000);
    expect((await m.probe('/readyz')).text).toContain('[+]controller-forbidden ok\n');
  });

  it('starts a controller when its kind is served later', async () => {
    const seen: string[] = [];
    const m = setUp([
      defineOperator({
        name: 'late',
        domain: 'bowline.dev',
        controllers: [controller(Site).reconcile(({ key }) => void seen.push(key.name))],
      }),
    ]);
    await m.until(() => isLeading(m) && m.manager.status()[0]?.controllers[0]?.state === 'waiting');
    await m.clock.advance(200_000);
    expect(await m.probe('/readyz')).toMatchObject({
      status: 503,
      text: expect.stringContaining('waiting for Site.example.dev'),
    });
    m.server.serve(Site);
    m.server.put(Site, { metadata: key });
    await m.until(() => seen.length === 1, 1_000);
    expect(await m.probe('/readyz')).toMatchObject({ status: 200 });
  });

  it('starts, and is ready and alive, without an optional kind, while a controller that needs the kind waits', async () => {
    const seen: string[] = [];
    const controllers = [
      controller(ConfigMap, { name: 'works' })
        .watches(Site, { optional: true, map: () => [] })
        .reconcile(({ isServed }) => void seen.push(`works ${isServed(Site)}`)),
      controller(ConfigMap, { name: 'waits' })
        .watches(Site, { map: () => [] })
        .reconcile(() => void seen.push('waits')),
    ];
    const operator = (which: typeof controllers) =>
      defineOperator({ name: 'sites', domain: 'bowline.dev', controllers: which });
    const alone = setUp([operator(controllers.slice(0, 1))]);
    alone.server.put(ConfigMap, a);
    await alone.until(() => seen.length === 1);
    expect(alone.manager.status()).toMatchObject([
      { controllers: [{ state: 'running', waitsFor: [], worksWithout: ['Site.example.dev'] }] },
    ]);
    expect(await alone.probe('/readyz')).toEqual({
      status: 200,
      text: expect.stringContaining(
        '[+]controller-works ok: works without Site.example.dev, which the server does not serve\n',
      ),
    });
    await alone.clock.advance(400_000);
    expect(await alone.probe('/livez')).toMatchObject({ status: 200 });

    const both = setUp([operator(controllers)]);
    both.server.put(ConfigMap, a);
    await both.until(() => seen.length === 2);
    expect(both.manager.status()[0]?.controllers).toMatchObject([{ state: 'running' }, { state: 'waiting' }]);
    expect((await both.probe('/readyz')).text).toContain('[-]controller-waits failed: waiting for Site.example.dev');
    both.server.serve(Site);
    await both.until(() => seen.includes('waits'), 1_000);
    await both.until(() => seen.includes('works true'));
  });

  it('waits for an optional kind until it is known whether it is served', async () => {
    const seen: string[] = [];
    const m = setUp([
      defineOperator({
        name: 'sites',
        domain: 'bowline.dev',
        controllers: [
          controller(ConfigMap)
            .watches(Site, { optional: true, map: () => [] })
            .reconcile(({ key }) => void seen.push(key.name)),
        ],
      }),
    ]);
    m.server.put(ConfigMap, a);
    m.server.rejectWith = ({ path }) => (path.includes('/sites') ? 403 : undefined);
    await m.until(() => isLeading(m));
    await m.clock.advance(60_000);
    expect(seen).toEqual([]);
    expect((await m.probe('/readyz')).text).toContain('not allowed to read sites');
    m.server.rejectWith = () => undefined;
    await m.until(() => seen.length === 1, 1_000);
  });

  it('fails liveness when a watch is inactive for too long, not when it is only quiet', async () => {
    const m = setUp([writer('one')], { leaderElection: false });
    await m.until(() => m.manager.status()[0]?.controllers[0]?.state === 'running');
    await m.clock.advance(3_600_000);
    expect(await m.probe('/livez')).toMatchObject({ status: 200 });
    m.server.closeWatches();
    m.server.rejectWith = () => 503;
    await m.clock.advance(290_000);
    expect(await m.probe('/livez')).toMatchObject({ status: 200 });
    await m.clock.advance(60_000);
    expect(await m.probe('/livez')).toMatchObject({
      status: 503,
      text: expect.stringContaining('no activity of ConfigMap'),
    });
    m.server.rejectWith = () => undefined;
    await m.clock.advance(60_000);
    expect(await m.probe('/livez')).toMatchObject({ status: 200 });
  });

  it.each([
    [true, 'deleted'],
    [false, 'BOWLINE_UNDECLARED_PERMISSION'],
  ])('grants an operator the permissions of its configuration, with deletion %s', async (allowDeletion, end) => {
    const outcomes: string[] = [];
    const operator = defineOperator({
      name: 'tidy',
      domain: 'bowline.dev',
      config: { parse: (section: unknown) => section as { readonly allowDeletion: boolean } },
      permissions: (config) => (config.allowDeletion ? [allow(['delete'], ConfigMap)] : []),
      controllers: [
        controller(ConfigMap).reconcile(async ({ live, key: found }) => {
          await live.delete(ConfigMap, found).then(
            () => outcomes.push('deleted'),
            (error: { code?: string }) => outcomes.push(error.code ?? ''),
          );
        }),
      ],
    });
    const m = setUp([operator], { config: { tidy: { allowDeletion } } });
    m.server.put(ConfigMap, a);
    await m.until(() => outcomes.length > 0);
    expect(outcomes).toEqual([end]);
  });

  it('rejects with the reason when a setup or configuration fails, and stops the others', async () => {
    const m = setUp(
      [
        writer('fine'),
        defineOperator({
          name: 'broken',
          domain: 'bowline.dev',
          config: {
            parse: (section: unknown): string => {
              throw new TypeError(`url: "${String(section)}" is not an address`);
            },
          },
          services: [{ name: 'idle', run: async () => {} }],
        }),
      ],
      { config: { broken: 'nonsense' } },
    );
    await m.until(
      () => m.manager.status().length === 2 && m.manager.status().every((each) => each.state === 'stopped'),
    );
    expect(await m.running).toMatchObject({
      code: 'BOWLINE_OPERATOR_SETUP',
      message: 'cannot set up the operator broken: url: "nonsense" is not an address',
    });
  });

  it('stops during a setup that does not end', async () => {
    let aborted = false;
    const m = setUp([
      defineOperator({
        name: 'endless',
        domain: 'bowline.dev',
        setup: ({ signal }) =>
          new Promise<undefined>(() => {
            signal.addEventListener('abort', () => {
              aborted = true;
            });
          }),
        services: [{ name: 'idle', run: async () => {} }],
      }),
    ]);
    await m.until(() => m.manager.status().length === 1);
    expect(await m.probe('/readyz')).toMatchObject({
      status: 503,
      text: expect.stringContaining('setup has not finished'),
    });
    m.stop.abort();
    expect(await m.running).toBe('resolved');
    expect(aborted).toBe(true);
  });

  it('runs services on every replica or only on the leader, and restarts one that failed', async () => {
    const shared = world();
    const operator = (who: string, log: string[]): Operator =>
      defineOperator({
        name: 'served',
        domain: 'bowline.dev',
        setup: () => ({ who }),
        services: [
          {
            name: 'receiver',
            run: async (signal, { who }) => {
              log.push(`${who} receives`);
              if (log.length === 1) throw new Error('port taken');
              await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
            },
          },
          { name: 'poller', leaderOnly: true, run: async (_, { who }) => void log.push(`${who} polls`) },
        ],
      });
    const firstLog: string[] = [];
    const secondLog: string[] = [];
    const first = setUp([operator('first', firstLog)], { world: shared });
    await first.until(() => isLeading(first), 10);
    await first.until(() => firstLog.filter((line) => line === 'first receives').length === 2, 100);
    expect(firstLog).toContain('first polls');
    const second = setUp([operator('second', secondLog)], { world: shared });
    await second.until(() => secondLog.length === 2, 100);
    expect(secondLog).toEqual(['second receives', 'second receives']);
    first.stop.abort();
    await second.until(() => secondLog.includes('second polls'), 100);
  });

  it.each([
    [[], /no operators/],
    [[writer('x'), writer('x')], /two operators are named "x"/],
  ])('rejects operators that cannot run together', (operators, text) => {
    expect(() => new Manager({ operators, clientFor: () => Promise.reject(new Error('unused')) })).toThrow(text);
  });
});
