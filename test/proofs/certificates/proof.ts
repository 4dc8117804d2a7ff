import { setTimeout as pause } from 'node:timers/promises';
import { type ControlPlane, connectClient, startControlPlane } from '@bowline/control-plane';
import {
  ClusterRole,
  ClusterRoleBinding,
  MutatingWebhookConfiguration,
  Namespace,
  Role,
  RoleBinding,
  Secret,
  ServiceAccount,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { pick, type Random, seededRandom } from '@bowline/machinery';
import type { Client } from '@bowline/runtime/client';
import { webhookConfigurations } from '@bowline/runtime/install';
import { webhookRules } from '@bowline/runtime/webhook';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { Balancer } from './balancer.ts';
import { Load } from './load.ts';
import { observe, servedCertificate, startImpostor } from './observe.ts';
import { LIVES, OPERATOR, Replica } from './replica.ts';
import { installShips, shipWebhooks } from './ship.ts';

const REPLICAS = 3;
const WRITERS = 4;
const OWN = 'proof-system';
const USERS = 'proof-users';
const SECRET = { namespace: OWN, name: `${OPERATOR}-webhook-tls` };

/** The events, in round order. The seed decides the details. */
const EVENTS = ['renew', 'damage', 'restart', 'rotate', 'delete'] as const;
type Event = (typeof EVENTS)[number];

/**
 * The certificates proof: several replicas behind a balancer, a real API server that calls them, and writers that never pause.
 * Certificates are renewed, CAs rotated, the Secret damaged and deleted, replicas replaced; no admission may fail.
 */
export const proof: Proof = {
  name: 'certificates',
  summary: 'webhook certificates renewed and rotated under load, on several replicas: no admission fails',
  defaultRuns: EVENTS.length,
  run,
};

async function run(options: ProofOptions): Promise<ProofResult> {
  const startedAt = performance.now();
  const random = seededRandom(options.seed);
  const violations: { seed: number; message: string }[] = [];
  await using controlPlane = await startControlPlane({
    kind: 'kubernetes',
    scheduler: false,
    workloads: false,
    nodes: 0,
    onProgress: options.log,
  });
  await using admin = await connectClient(await controlPlane.kubeconfig('admin'));
  await using stage = await Stage.open(controlPlane, admin);
  const load = new Load(admin, USERS, WRITERS);
  const rounds: { event: Event; ms: number; admitted: number; handshakes: number }[] = [];
  try {
    for (let n = 0; n < options.runs; n++) {
      // Each event once, regardless of the time: the longest wait is for the CA to age, which starts immediately.
      const isOver = options.seconds !== undefined && performance.now() - startedAt > options.seconds * 1000;
      if (isOver && n >= EVENTS.length) break;
      const event = EVENTS[n % EVENTS.length] ?? 'renew';
      const before = { at: performance.now(), admitted: load.counts.admitted, connections: stage.balancer.connections };
      await play(event, stage, random);
      await stage.settled(load);
      const round = {
        event,
        ms: Math.round(performance.now() - before.at),
        admitted: load.counts.admitted - before.admitted,
        handshakes: stage.balancer.connections - before.connections,
      };
      rounds.push(round);
      options.log(
        `round ${n + 1}: ${event}, ${round.ms} ms, ${round.admitted} admitted, ${round.handshakes} handshakes`,
      );
      if (load.failures.length > 0) break;
    }
  } catch (error) {
    violations.push({ seed: options.seed, message: error instanceof Error ? error.message : String(error) });
  }
  const failures = load.failures.splice(0);
  for (const message of failures.slice(0, 5)) violations.push({ seed: options.seed, message });
  // Check that a failure would be detected: an additional replica with an untrusted certificate must make admissions fail.
  const noticed = await stage.withImpostor(() => until(() => load.failures.length > 0, 5_000));
  if (!noticed) violations.push({ seed: options.seed, message: 'the load does not detect an untrusted certificate' });
  await load.end();
  const facts = await observe(stage.history);
  return {
    name: 'certificates',
    runs: rounds.length,
    seed: options.seed,
    violations,
    facts: {
      kubernetes: controlPlane.version,
      replicas: REPLICAS,
      ...LIVES,
      admitted: load.counts.admitted,
      denied: load.counts.denied,
      failed: failures.length,
      byReplica: Object.fromEntries(load.counts.byReplica),
      ...facts,
      rounds,
    },
  };
}

async function play(event: Event, stage: Stage, random: Random): Promise<void> {
  switch (event) {
    case 'renew':
      return await stage.changed('tls.crt', LIVES.leafValidForMs);
    case 'rotate':
      // Whatever the age of the CA, it is replaced before it expires.
      return await stage.changed('ca.key', LIVES.authorityValidForMs + 10_000);
    case 'delete': {
      await stage.admin.delete(Secret, SECRET);
      return await stage.changed('ca.key', LIVES.propagationMs + 10_000);
    }
    case 'damage': {
      const found = await stage.admin.get(Secret, SECRET);
      const key = pick(random, ['tls.crt', 'tls.key', 'ca.crt', 'ca.key']);
      const data = { ...found.data, [key]: Buffer.from('damaged').toString('base64') };
      await stage.admin.update(Secret, { ...found, data });
      return await stage.secretUntil(10_000, (now) => now[key] !== data[key]);
    }
    case 'restart':
      return await stage.replace(random);
  }
}

/** Stage holds the API server, the replicas, and the balancer between them. */
class Stage implements AsyncDisposable {
  readonly admin: Client;
  readonly balancer: Balancer;
  /** Every observed state of the Secret. */
  readonly history: Secret[] = [];
  readonly #controlPlane: ControlPlane;
  readonly #watching: Promise<void>;
  readonly #stop = new AbortController();
  #replicas: readonly Replica[] = [];
  #count = 0;

  private constructor(controlPlane: ControlPlane, admin: Client, balancer: Balancer) {
    this.#controlPlane = controlPlane;
    this.admin = admin;
    this.balancer = balancer;
    this.#watching = this.#watch();
  }

  static async open(controlPlane: ControlPlane, admin: Client): Promise<Stage> {
    for (const name of [OWN, USERS]) await admin.create(Namespace, { metadata: { name } });
    await installShips(admin);
    const stage = new Stage(controlPlane, admin, await Balancer.start());
    await stage.#install();
    const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => stage.#start()));
    stage.#use(replicas);
    // Wait until the API server calls the webhooks: it observes a configuration with its own watch.
    const asked = await until(async () => {
      const probe = new Load(admin, USERS, 1);
      await pause(100);
      await probe.end();
      return probe.failures.length === 0;
    }, 20_000);
    if (!asked) throw new Error('the API server does not call the webhooks');
    return stage;
  }

  /** #install acts as the chart: it creates an account with exactly the rules, and the configurations without a bundle. */
  async #install(): Promise<void> {
    const { admin } = this;
    const webhooks = shipWebhooks('chart');
    const metadata = { namespace: OWN, name: OPERATOR };
    const rules = webhookRules({ operator: OPERATOR, domain: 'bowline.dev', webhooks });
    const subjects = [{ kind: 'ServiceAccount', ...metadata }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', name: OPERATOR };
    await admin.create(ServiceAccount, { metadata });
    await admin.create(Role, { metadata, rules: rules.namespaced });
    await admin.create(RoleBinding, { metadata, subjects, roleRef: { ...roleRef, kind: 'Role' } });
    await admin.create(ClusterRole, { metadata: { name: OPERATOR }, rules: rules.cluster });
    await admin.create(ClusterRoleBinding, {
      metadata: { name: OPERATOR },
      subjects,
      roleRef: { ...roleRef, kind: 'ClusterRole' },
    });
    const address = { url: this.#url() };
    const wanted = webhookConfigurations({
      operator: OPERATOR,
      domain: 'bowline.dev',
      webhooks,
      ownNamespace: OWN,
      address,
    });
    if (wanted.validating) await admin.create(ValidatingWebhookConfiguration, wanted.validating);
    if (wanted.mutating) await admin.create(MutatingWebhookConfiguration, wanted.mutating);
  }

  #url(): string {
    return `https://127.0.0.1:${this.balancer.port}`;
  }

  async #start(): Promise<Replica> {
    const kubeconfig = await this.#controlPlane.kubeconfig({ serviceAccount: { namespace: OWN, name: OPERATOR } });
    const name = `replica-${++this.#count}`;
    const replica = await Replica.start({ name, namespace: OWN, kubeconfig, url: this.#url() });
    await replica.ready();
    return replica;
  }

  #use(replicas: readonly Replica[]): void {
    this.#replicas = replicas;
    this.balancer.use(replicas.map(({ port }) => port));
  }

  /** replace simulates a rollout: it adds a replica first, then removes the old one from the balancer and stops it. */
  async replace(random: Random): Promise<void> {
    const added = await this.#start();
    const leaving = pick(random, this.#replicas);
    this.#use([...this.#replicas.filter((each) => each !== leaving), added]);
    await leaving.stop();
  }

  /** withImpostor adds a server with a self-signed certificate while `work` runs. */
  async withImpostor<T>(work: () => Promise<T>): Promise<T> {
    await using impostor = await startImpostor();
    this.balancer.use([impostor.port]);
    const result = await work();
    this.#use(this.#replicas);
    return result;
  }

  /** changed waits until a value in the Secret has changed. */
  async changed(key: string, timeoutMs: number): Promise<void> {
    const before = (await this.admin.find(Secret, SECRET))?.data?.[key];
    const first = before ?? this.history.findLast(({ data }) => data?.[key] !== undefined)?.data?.[key];
    await this.secretUntil(timeoutMs, (now) => now[key] !== undefined && now[key] !== first);
  }

  async secretUntil(timeoutMs: number, test: (data: Readonly<Record<string, string>>) => boolean): Promise<void> {
    const found = await until(async () => test((await this.admin.find(Secret, SECRET))?.data ?? {}), timeoutMs);
    if (!found) throw new Error(`the Secret did not change within ${timeoutMs} ms`);
  }

  /** settled waits until every replica serves the certificate in the Secret, and has responded to the load with it. */
  async settled(load: Load): Promise<void> {
    const serve = await until(async () => {
      const { data = {} } = (await this.admin.find(Secret, SECRET)) ?? {};
      const wanted = Buffer.from(data['tls.crt'] ?? '', 'base64').toString();
      const served = await Promise.all(this.#replicas.map(({ port }) => servedCertificate(port)));
      return wanted !== '' && served.every((each) => each !== undefined && wanted.includes(each));
    }, 15_000);
    if (!serve) throw new Error('the replicas do not serve the certificate in the Secret');
    const counts = new Map(load.counts.byReplica);
    const answered = await until(
      () => this.#replicas.every(({ name }) => (load.counts.byReplica.get(name) ?? 0) > (counts.get(name) ?? 0) + 8),
      15_000,
    );
    if (!answered && load.failures.length === 0) throw new Error('a replica is no longer called');
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const options = { namespace: OWN, fieldSelector: `metadata.name=${SECRET.name}`, signal };
        for await (const { type, object } of await this.admin.watch(Secret, options)) {
          if (type !== 'DELETED') this.history.push(object);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#watching, ...this.#replicas.map((replica) => replica.stop())]);
    await this.balancer[Symbol.asyncDispose]();
  }
}

async function until(test: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  while (performance.now() < end) {
    if (await test()) return true;
    await pause(50);
  }
  return await test();
}
