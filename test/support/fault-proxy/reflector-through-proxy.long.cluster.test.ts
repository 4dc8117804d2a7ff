import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, keyOf, keyString, type ObjectKey } from '@bowline/kubernetes';
import { integerBelow, pick, type Random, seededRandom } from '@bowline/machinery';
import { Cache, type Informer } from '@bowline/runtime/cache';
import {
  type Client,
  connect,
  connectionFrom,
  createClient,
  isConflict,
  isNotFound,
  parseKubeconfig,
} from '@bowline/runtime/client';
import { describe, expect, it } from 'vitest';
import { type Identity, InvariantChecker } from '../../proofs/reflector/invariants.ts';
import { acceleratedClock } from './accelerated-clock.ts';
import { type Fault, seededFaults } from './fault.ts';
import { FaultProxy } from './fault-proxy.ts';

const SEEDS = 20;
/** The number of concurrent seeds: they mostly wait. */
const CONCURRENT_SEEDS = 5;
/** Every request has a fault until this many have been injected. */
const FAULTS = 8;
/** The maximum number of changes between faults: a stream that survived its fault is then cut, so that the next one can apply. */
const MAX_CHANGES_BETWEEN_FAULTS = 25;
/** Changes after the last fault. */
const STEPS_AFTER = 20;
/** The reflector's first backoff of up to 800 ms takes 40 ms, and the maximum backoff of 30 s takes 1.5 s. */
const SPEED = 20;

interface Outcome {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly events: number;
  readonly faults: readonly Fault[];
}

describe('an informer behind a faulty network', () => {
  it('never goes back and reaches the state of the server, for twenty seeds', { timeout: 120_000 }, async () => {
    await using c = await cluster({ prefix: 'reflector' });
    const seeds = Array.from({ length: SEEDS }, (_, n) => n + 1);
    const outcomes: Outcome[] = [];
    await Promise.all(
      Array.from({ length: CONCURRENT_SEEDS }, async () => {
        for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) outcomes.push(await run(c, seed));
      }),
    );
    expect(outcomes.filter((outcome) => outcome.violations.length > 0)).toEqual([]);
    expect(outcomes).toHaveLength(SEEDS);
    // The seeds are effective: every kind of fault was injected somewhere, and there were changes to miss.
    const kinds = new Set(outcomes.flatMap((outcome) => outcome.faults.map((fault) => fault.kind)));
    expect([...kinds].sort()).toEqual([
      'answer',
      'delay',
      'drop',
      'duplicate-bookmark',
      'end',
      'goaway',
      'half-open',
      'refuse-stream',
      'restart',
      'stall',
      'truncate',
      'watch-error',
    ]);
    for (const { seed, faults } of outcomes) expect(faults, `faults of seed ${seed}`).toHaveLength(FAULTS);
    expect(outcomes.reduce((sum, { events }) => sum + events, 0)).toBeGreaterThan(10 * SEEDS);
  });
});

async function run(c: Cluster, seed: number): Promise<Outcome> {
  const random = seededRandom(seed);
  const kubeconfig = await c.kubeconfig('admin');
  await using proxy = await FaultProxy.start({
    upstream: connectionFrom(await parseKubeconfig(JSON.stringify(kubeconfig), 'admin')),
    schedule: seededFaults({ random: seededRandom(seed + 1_000), rate: 1, maxFaults: FAULTS, maxDelayMs: 100 }),
  });
  const endpoint = await proxy.endpoint('reflector');
  const wire = acceleratedClock(SPEED);
  // In real time: a PING every 200 ms with a timeout of 750 ms.
  const limits = { pingIntervalMs: 200 * SPEED, pingTimeoutMs: 750 * SPEED, connectTimeoutMs: 2_000 * SPEED };
  const transport = connect(await proxy.connection('reflector'), { wire, timeoutMs: 3_000 * SPEED, ...limits });
  await using client = createClient({ transport, clock: wire, wire, random });
  const cache = new Cache({ client, clock: wire, wire, random });
  const scope = { namespaces: [c.namespace], labelSelector: `seed=${seed}` };
  const informer = cache.informer(ConfigMap, scope);
  const violations: string[] = [];
  using checker = new InvariantChecker({
    informer,
    metadata: (value) => value.metadata ?? {},
    report: (message) => void violations.push(message),
  });
  const keys = Array.from({ length: 8 }, (_, n) => ({ namespace: c.namespace, name: `seed-${seed}-${n}` }));

  const stop = new AbortController();
  const running = cache.run(stop.signal);
  try {
    let seen = 0;
    for (let quiet = 0; seen < FAULTS || quiet < STEPS_AFTER; quiet++) {
      await change(c.admin, cache, pick(random, keys), seed, random);
      checker.readAll(keys);
      if (proxy.injected.length > seen) quiet = 0;
      else if (seen < FAULTS && quiet % MAX_CHANGES_BETWEEN_FAULTS === MAX_CHANGES_BETWEEN_FAULTS - 1) endpoint.reset();
      seen = proxy.injected.length;
    }
    const expected = await serverState(c, seed);
    proxy.schedule = () => undefined;
    const agrees = await eventually(informer, () => same(informer, expected));
    if (!agrees) violations.push(`the informer did not reach the server's state: ${JSON.stringify(informer.health())}`);
    checker.readAll(keys);
    checker.settled(expected);
  } finally {
    stop.abort();
    await running;
  }
  return { seed, violations, events: checker.eventCount, faults: proxy.injected.map(({ fault }) => fault) };
}

/**
 * change creates, changes or deletes an object directly at the server; half of the time the cache is informed, as after own
 * writes.
 */
async function change(admin: Client, cache: Cache, key: ObjectKey, seed: number, random: Random): Promise<void> {
  const tell = random.next() < 0.5;
  const data = { value: String(integerBelow(random, 1_000_000)) };
  if (random.next() < 0.3) {
    const found = await admin.find(ConfigMap, key);
    if (!found) return;
    const { uid = '', resourceVersion } = found.metadata ?? {};
    await admin.delete(ConfigMap, key, { preconditions: { uid } }).catch(unless(isNotFound, isConflict));
    if (tell) cache.recordDelete(ConfigMap, key, { uid, resourceVersion });
    return;
  }
  const metadata = { name: key.name, namespace: key.namespace, labels: { seed: String(seed) } };
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  const stored = await admin.patch(ConfigMap, key, { type: 'apply', body, force: true }, { fieldManager: 'test' });
  if (tell) cache.recordWrite(ConfigMap, stored);
}

function unless(...expected: readonly ((error: unknown) => boolean)[]): (error: unknown) => void {
  return (error) => {
    if (!expected.some((test) => test(error))) throw error;
  };
}

async function serverState(c: Cluster, seed: number): Promise<ReadonlyMap<string, Identity>> {
  const { items } = await c.admin.list(ConfigMap, { namespace: c.namespace, labelSelector: `seed=${seed}` });
  return new Map(items.map((item) => [keyString(keyOf(item)), identityOf(item)]));
}

function identityOf(object: ConfigMap): Identity {
  return { uid: object.metadata?.uid ?? '', version: object.metadata?.resourceVersion ?? '' };
}

function same(informer: Informer<ConfigMap>, expected: ReadonlyMap<string, Identity>): boolean {
  const stored = informer.list();
  const { synced, unconfirmedWrites } = informer.health();
  return (
    synced &&
    unconfirmedWrites === 0 &&
    stored.length === expected.size &&
    stored.every((item) => expected.get(keyString(keyOf(item)))?.version === identityOf(item).version)
  );
}

/** eventually waits for a state of the informer: it checks after every event, and periodically for changes without an event. */
async function eventually(informer: Informer<ConfigMap>, isSo: () => boolean): Promise<boolean> {
  const deadline = performance.now() + 30_000;
  while (!isSo() && performance.now() < deadline) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, 50);
      const subscription = informer.subscribe((event) => {
        if (!event.initial) done();
      });
      function done(): void {
        clearTimeout(timer);
        subscription[Symbol.dispose]();
        resolve();
      }
    });
  }
  return isSo();
}
