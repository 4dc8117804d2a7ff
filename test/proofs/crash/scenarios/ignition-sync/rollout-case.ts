import { setTimeout as pause } from 'node:timers/promises';
import { IgnitionSync } from '@bowline/ignition-sync';
import {
  ConfigMap,
  type KubernetesObject,
  PersistentVolumeClaim,
  Pod,
  type Resource,
  Role,
  RoleBinding,
} from '@bowline/kubernetes';
import { pick, type Random } from '@bowline/machinery';
import { type Client, isNotFound } from '@bowline/runtime/client';
import { CR_ANNOTATIONS, objectNames } from '../../../../../operators/ignition-sync/src/api/names.ts';
import type { ServedRepository } from '../../../../support/git/git-repositories.ts';
import type { GitServer } from '../../../../support/git/git-server.ts';
import type { Identified } from '../../fingerprint.ts';
import { inParallel } from '../../in-parallel.ts';
import type { CrashCase } from '../../scenario.ts';
import { reportsDue, skippingStage } from './agents.ts';
import { type ExpectedSync, type Found, judge, NOTE, NOTE_KEY } from './judge.ts';
import { ACCOUNTS, createSync, NAMESPACE, runGateway } from './world.ts';

const TIMEOUT_MS = 180_000;
const BETWEEN_CHECKS_MS = 200;
const GATEWAYS = 3;
/** Less than there are gateways, so that a rollout has several steps. */
const MAX_PARALLEL = 2;
/** When the snapshot was taken, and when refs were requested. */
const TIME = '20260101-000000';
const REQUESTED_AT = { first: '2026-01-01T00:00:00Z', second: '2026-01-02T00:00:00Z' } as const;
const CREATED: readonly Resource<KubernetesObject>[] = [ConfigMap, Role, RoleBinding, PersistentVolumeClaim];

/** The approximate number of requests per IgnitionSync. */
const REQUESTS: Readonly<Record<string, number>> = { resolve: 22, rollout: 9, rollback: 7, deletion: 5 };

/**
 * actions are those during which the operator is killed: all IgnitionSyncs are created, get another commit, roll a gateway back or
 * end that, or every other one is deleted.
 */
export const actions: readonly string[] = ['resolve', 'rollout', 'rollback', 'deletion'];

/** RolloutCaseOptions configures a case. */
export interface RolloutCaseOptions {
  readonly admin: Client;
  readonly git: GitServer;
  /** The number of IgnitionSyncs. */
  readonly syncs: number;
  readonly action: string;
  /** The prefix of all names in it. */
  readonly name: string;
}

/** CaseSync is an IgnitionSync of a case, as it should be. */
interface CaseSync {
  readonly name: string;
  readonly pods: readonly string[];
  readonly hasClaim: boolean;
  /** Whether its first gateway is a stage of its own, before the others. */
  readonly isCanary: boolean;
  /** What it follows: main, a ref that was requested, or a tag of its spec in place of a request. */
  readonly kind: 'branch' | 'request' | 'tag';
  specRef: string;
  requestedRef: string | undefined;
  rollback: IgnitionSync['spec']['rollback'];
  isGone: boolean;
  reports: Readonly<Record<string, string>>;
  readonly noted: Set<string>;
}

const KINDS = ['branch', 'request', 'tag'] as const;

/** RolloutCase is the IgnitionSyncs, their repository, gateways and objects, from creation to deletion. */
export class RolloutCase implements CrashCase {
  readonly requests: number;
  readonly #options: RolloutCaseOptions;
  readonly #repository: ServedRepository;
  readonly #syncs: CaseSync[];
  /** The commits of all refs. */
  readonly #commits = new Map<string, string>();
  /** What was wrong at some time, whatever came later. */
  readonly #violations = new Set<string>();
  #snapshotCommit = '';
  #problemsAtStart = 1;
  #revision = 0;

  private constructor(options: RolloutCaseOptions, repository: ServedRepository) {
    this.#options = options;
    this.#repository = repository;
    this.#syncs = Array.from({ length: options.syncs }, (_, index) => this.#sync(index));
    this.requests = Math.ceil((REQUESTS[options.action] ?? 1) * this.#concerned.length);
  }

  /** begin creates the repository, the gateways, and the prerequisites of the action. */
  static async begin(options: RolloutCaseOptions): Promise<RolloutCase> {
    const one = new RolloutCase(options, await options.git.repositories.create(`${options.name}.git`));
    await one.#prepare();
    return one;
  }

  async #prepare(): Promise<void> {
    const { admin, action } = this.#options;
    this.#snapshotCommit = await this.#commit('main');
    await this.#commit('release-1');
    await this.#tag('v1');
    for (const each of this.#syncs) await this.#runGateways(each);
    if (action === 'resolve') return;
    await this.#create(this.#syncs);
    await this.done(AbortSignal.timeout(TIMEOUT_MS));
    await inParallel(this.#syncs, async (each) => {
      const { metadata, status, agent } = objectNames(each.name);
      const annotated = { metadata: { annotations: { [NOTE]: 'kept' } } };
      const key = (name: string) => ({ namespace: NAMESPACE, name });
      await admin.patch(ConfigMap, key(metadata), { type: 'merge', body: { data: { [NOTE_KEY]: 'kept' } } });
      await admin.patch(ConfigMap, key(status), { type: 'merge', body: annotated });
      await admin.patch(Role, key(agent), { type: 'merge', body: annotated });
      for (const id of [`ConfigMap ${metadata}`, `ConfigMap ${status}`, `Role ${agent}`]) each.noted.add(id);
    });
  }

  isOwn({ namespace, name }: Identified): boolean {
    return namespace === NAMESPACE && `${name}-`.includes(`${this.#options.name}-`);
  }

  async act(): Promise<void> {
    const { action } = this.#options;
    if (action === 'resolve') await this.#create(this.#syncs);
    else if (action === 'rollout') await this.#rollOut();
    else if (action === 'rollback') await inParallel(this.#syncs, (each) => this.#rollBack(each));
    else await inParallel(this.#concerned, (each) => this.#delete(each));
    this.#problemsAtStart = (await this.#problems()).length;
  }

  async progress(): Promise<number> {
    const left = (await this.#problems()).length;
    return left === 0 ? 1 : Math.max(0, 1 - left / this.#problemsAtStart);
  }

  /** Other clients damage or delete objects of the operator, and push. A starting operator looks at each repository. */
  async meanwhile(random: Random): Promise<void> {
    const { admin, action } = this.#options;
    const staying = this.#syncs.filter((each) => action !== 'deletion' || !this.#concerned.includes(each));
    const one = pick(random, staying);
    const { metadata, agent } = objectNames(one.name);
    const key = (name: string) => ({ namespace: NAMESPACE, name });
    const disturbances: readonly (() => Promise<unknown>)[] = [
      () => this.#remove(one, ConfigMap, metadata),
      () => this.#remove(one, Role, agent),
      () => admin.patch(RoleBinding, key(agent), { type: 'merge', body: { subjects: [] } }),
      () => this.#commit('main'),
    ];
    // Some objects do not exist yet.
    await pick(random, disturbances)().catch(ignoreNotFound);
  }

  async done(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#playAgents();
      if ((await this.#problems()).length === 0) return;
      signal.throwIfAborted();
      await pause(BETWEEN_CHECKS_MS, undefined, { signal });
    }
  }

  async problems(): Promise<readonly string[]> {
    // The present state may be the work of an earlier process: the last one must have checked it too.
    const last = this.#sync(this.#syncs.length);
    await this.#runGateways(last);
    this.#syncs.push(last);
    await this.#create([last]);
    await this.done(AbortSignal.timeout(TIMEOUT_MS));
    return [...this.#violations, ...(await this.#problems())];
  }

  async end(): Promise<void> {
    const { admin } = this.#options;
    await inParallel(this.#syncs, (each) => this.#delete(each));
    await this.done(AbortSignal.timeout(TIMEOUT_MS));
    await inParallel(
      this.#syncs.flatMap(({ pods }) => pods),
      (name) => admin.delete(Pod, { namespace: NAMESPACE, name }, { gracePeriodSeconds: 0 }).catch(ignoreNotFound),
    );
    // No controller here removes the protection of claims.
    const claims = this.#syncs.filter(({ hasClaim }) => hasClaim).map(({ name }) => objectNames(name).claim);
    await inParallel(claims, (name) => {
      const body = { metadata: { finalizers: null } };
      const key = { namespace: NAMESPACE, name };
      return admin.patch(PersistentVolumeClaim, key, { type: 'merge', body }).catch(ignoreNotFound);
    });
  }

  #sync(index: number): CaseSync {
    const name = `${this.#options.name}-${String(index).padStart(2, '0')}`;
    const kind = KINDS[index % KINDS.length] ?? 'branch';
    const pods = Array.from({ length: GATEWAYS }, (_, gateway) => `${name}-gateway-${gateway}`);
    return {
      name,
      pods,
      kind,
      hasClaim: index % 4 === 0,
      // Stages do not apply to a gateway that stays at a snapshot.
      isCanary: index % 4 === 1 && this.#options.action !== 'rollback',
      specRef: kind === 'tag' ? 'v1' : 'main',
      requestedRef: kind === 'branch' ? undefined : 'release-1',
      // In every other one the action ends a rollback.
      rollback: this.#options.action === 'rollback' && index % 2 === 0 ? rollbackOf(pods) : undefined,
      isGone: false,
      reports: {},
      noted: new Set(),
    };
  }

  /** The IgnitionSyncs that the action changes. */
  get #concerned(): readonly CaseSync[] {
    return this.#options.action === 'deletion' ? this.#syncs.filter((_, index) => index % 2 === 1) : this.#syncs;
  }

  async #runGateways({ name, pods }: CaseSync): Promise<void> {
    const { admin } = this.#options;
    await inParallel([...pods.entries()], ([index, pod]) =>
      runGateway(admin, { namespace: NAMESPACE, name: pod }, name, ACCOUNTS[index % ACCOUNTS.length] ?? 'default'),
    );
  }

  async #create(syncs: readonly CaseSync[]): Promise<void> {
    const { admin, git } = this.#options;
    await inParallel(syncs, async ({ name, pods, specRef, requestedRef, rollback, hasClaim, isCanary }) => {
      const metadata = { namespace: NAMESPACE, name, annotations: requestFor(requestedRef, REQUESTED_AT.first) };
      await createSync(admin, metadata, {
        git: { repo: `${git.url}/${this.#options.name}.git`, ref: specRef },
        deployment: { maxParallel: MAX_PARALLEL, ...(isCanary ? stagesOf(pods) : {}) },
        snapshots: { enabled: true },
        ...(rollback ? { rollback } : {}),
        ...(hasClaim ? { storage: {} } : {}),
      });
    });
  }

  /** #rollOut gives every IgnitionSync another commit: by a push, by a request, and by a spec that ends a request. */
  async #rollOut(): Promise<void> {
    const { admin } = this.#options;
    const commit = await this.#commit('main');
    await this.#commit('release-2');
    await this.#tag('v2');
    await inParallel(this.#syncs, async (each) => {
      const key = { namespace: NAMESPACE, name: each.name };
      if (each.kind === 'tag') {
        each.specRef = 'v2';
        each.requestedRef = undefined;
        await admin.patch(IgnitionSync, key, { type: 'merge', body: { spec: { git: { ref: each.specRef } } } });
        return;
      }
      if (each.kind === 'request') each.requestedRef = 'release-2';
      const annotations = {
        ...requestFor(each.requestedRef, REQUESTED_AT.second),
        [CR_ANNOTATIONS.requestedCommit]: commit,
      };
      await admin.patch(IgnitionSync, key, { type: 'merge', body: { metadata: { annotations } } });
    });
  }

  /** #rollBack returns a gateway to a snapshot, or ends that. */
  async #rollBack(each: CaseSync): Promise<void> {
    each.rollback = each.rollback ? undefined : rollbackOf(each.pods);
    const body = { spec: { rollback: each.rollback ?? null } };
    await this.#options.admin.patch(IgnitionSync, { namespace: NAMESPACE, name: each.name }, { type: 'merge', body });
  }

  async #delete(each: CaseSync): Promise<void> {
    each.isGone = true;
    const options = { propagationPolicy: 'Background' } as const;
    await this.#options.admin
      .delete(IgnitionSync, { namespace: NAMESPACE, name: each.name }, options)
      .catch(ignoreNotFound);
  }

  async #remove({ noted }: CaseSync, kind: Resource<KubernetesObject>, name: string): Promise<void> {
    await this.#options.admin.delete(kind, { namespace: NAMESPACE, name });
    noted.delete(`${kind.kind} ${name}`);
  }

  /** #commit adds a commit to a branch and returns it. */
  async #commit(branch: string): Promise<string> {
    const files = { 'projects/overview/project.json': JSON.stringify({ title: `${branch} ${++this.#revision}` }) };
    const commit = await this.#repository.commit(files, { branch });
    this.#commits.set(branch, commit);
    return commit;
  }

  /** #tag tags main. */
  async #tag(name: string): Promise<void> {
    await this.#repository.git('tag', '-a', '-m', name, name, 'main');
    this.#commits.set(name, await this.#repository.git('rev-parse', `${name}^{commit}`));
  }

  /** #playAgents reports what the agents of all gateways do, and checks that none of them may sync too early. */
  async #playAgents(): Promise<void> {
    const { admin } = this.#options;
    const { items } = await admin.list(ConfigMap, { namespace: NAMESPACE });
    const dataOf = new Map(items.map(({ metadata, data }) => [metadata?.name ?? '', data]));
    await inParallel(this.#syncs, async (each) => {
      const { metadata, status: name } = objectNames(each.name);
      if (!dataOf.has(name)) return;
      const snapshotCommit = this.#snapshotCommit;
      const { reports, syncing } = reportsDue(dataOf.get(metadata), dataOf.get(name), { snapshotCommit });
      if (syncing > MAX_PARALLEL) {
        this.#violations.add(`${each.name}: ${syncing} gateways may sync at the same time, not ${MAX_PARALLEL}`);
      }
      const early = each.isCanary
        ? skippingStage(dataOf.get(metadata), dataOf.get(name), each.pods[0] ?? '')
        : undefined;
      if (early !== undefined) this.#violations.add(`${each.name}: ${early} may sync before the first stage has`);
      if (syncing === 0) return;
      each.reports = { ...each.reports, ...reports };
      const body = { data: reports };
      await admin.patch(ConfigMap, { namespace: NAMESPACE, name }, { type: 'merge', body }).catch(ignoreNotFound);
    });
  }

  async #problems(): Promise<readonly string[]> {
    return judge(
      await this.#found(),
      this.#syncs.map((each) => this.#expected(each)),
    );
  }

  #expected(each: CaseSync): ExpectedSync {
    const { name, specRef, requestedRef, rollback, pods, hasClaim, isGone, reports, noted } = each;
    const ref = requestedRef ?? specRef;
    const commit = this.#commits.get(ref) ?? '';
    const isRolledBack = (pod: string): boolean => rollback?.gateways?.includes(pod) ?? false;
    return {
      name,
      state: isGone ? 'gone' : 'synced',
      ref,
      commit,
      requestedRef,
      rollback,
      gateways: Object.fromEntries(pods.map((pod) => [pod, isRolledBack(pod) ? this.#snapshotCommit : commit])),
      accounts: [...ACCOUNTS],
      hasClaim,
      reports,
      noted,
    };
  }

  async #found(): Promise<Found> {
    const { admin, name } = this.#options;
    const isOurs = ({ metadata }: KubernetesObject): boolean =>
      // Claims that are being deleted are kept by their protection.
      (metadata?.name?.includes(`${name}-`) ?? false) &&
      !(metadata?.deletionTimestamp && metadata.finalizers?.[0]?.endsWith('pvc-protection'));
    const syncs = (await admin.list(IgnitionSync, { namespace: NAMESPACE })).items.filter(isOurs);
    const lists = await Promise.all(
      CREATED.map(async (kind) =>
        (await admin.list(kind, { namespace: NAMESPACE })).items
          .filter(isOurs)
          .map((object): [string, KubernetesObject] => [`${kind.kind} ${object.metadata?.name}`, object]),
      ),
    );
    return {
      syncs: new Map(syncs.map((sync) => [sync.metadata?.name ?? '', sync])),
      objects: new Map(lists.flat()),
    };
  }
}

/** rollbackOf returns a rollback of the first gateway. */
function rollbackOf([pod = '']: readonly string[]): NonNullable<IgnitionSync['spec']['rollback']> {
  return { toSnapshot: `${pod}-${TIME}`, gateways: [pod] };
}

/** stagesOf returns a deployment whose first stage is the first gateway. */
function stagesOf([pod = '']: readonly string[]) {
  return { strategy: 'canary', stages: [{ name: 'first', gateways: [pod], postSyncWait: '1s' }] } as const;
}

/** requestFor returns the annotations that the receiver writes. */
function requestFor(ref: string | undefined, at: string): Readonly<Record<string, string>> {
  return {
    ...(ref === undefined ? {} : { [CR_ANNOTATIONS.requestedRef]: ref }),
    [CR_ANNOTATIONS.requestedAt]: at,
    [CR_ANNOTATIONS.requestedBy]: 'github',
  };
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
