import { setTimeout as pause } from 'node:timers/promises';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  DaemonSet,
  Deployment,
  type KubernetesObject,
  PodDisruptionBudget,
  type Resource,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { CSIDriver } from '@bowline/kubernetes/storage-v1';
import { pick, type Random } from '@bowline/machinery';
import { type Client, isNotFound } from '@bowline/runtime/client';
import {
  SpiffeCSIDriver,
  SpireAgent,
  SpireOIDCDiscoveryProvider,
  SpireServer,
  ZeroTrustWorkloadIdentityManager,
} from '@bowline/ztwim';
import { ANNOTATIONS } from '../../../../../operators/ztwim/src/api/names.ts';
import { BACKUP } from '../../../../../operators/ztwim/src/migration/backup.ts';
import { ClusterSPIFFEID } from '../../../../../operators/ztwim/src/third-party/cluster-spiffe-id.ts';
import type { Identified } from '../../fingerprint.ts';
import type { CrashCase } from '../../scenario.ts';
import { expectedBeforeMigration, expectedObjects, legacySpecs, type Values } from './expected-objects.ts';
import { type Found, judge } from './judge.ts';
import { BUNDLE, isBystander, OPERANDS } from './world.ts';

const KEY = { name: 'cluster' };
const BACKUP_KEY = { namespace: OPERANDS, name: BACKUP };
const TIMEOUT_MS = 180_000;
const BETWEEN_CHECKS_MS = 100;
/** About as many requests as the operator sends in each action. */
const REQUESTS: Readonly<Record<string, number>> = { install: 70, cascade: 25, deletion: 70, migration: 25 };
const FIVE: readonly Resource<KubernetesObject>[] = [
  ZeroTrustWorkloadIdentityManager,
  SpireServer,
  SpireAgent,
  SpiffeCSIDriver,
  SpireOIDCDiscoveryProvider,
];
const WORKLOADS: readonly Resource<KubernetesObject>[] = [StatefulSet, DaemonSet, Deployment];
const CREATED: readonly Resource<KubernetesObject>[] = [
  ...WORKLOADS,
  ServiceAccount,
  Service,
  ConfigMap,
  Secret,
  Role,
  RoleBinding,
  PodDisruptionBudget,
  ClusterRole,
  ClusterRoleBinding,
  ValidatingWebhookConfiguration,
  CSIDriver,
  ClusterSPIFFEID,
];

/** actions are those during which the operator is killed. */
export const actions: readonly string[] = ['install', 'deletion', 'cascade', 'migration'];

/** InstallationCaseOptions configures a case. */
export interface InstallationCaseOptions {
  readonly admin: Client;
  readonly action: string;
}

const FIRST: Values = {
  trustDomain: 'first.io',
  clusterName: 'one',
  bundleConfigMap: BUNDLE,
  jwtIssuer: 'https://oidc.example.io',
};
const SECOND: Values = { ...FIRST, trustDomain: 'second.io', clusterName: 'two' };

/** InstallationCase is SPIRE with all of its objects, from its installation to its deletion. */
export class InstallationCase implements CrashCase {
  readonly requests: number;
  readonly #options: InstallationCaseOptions;
  #state: 'nothing' | 'legacy' | 'first' | 'second' = 'nothing';
  /** The templates of the workloads that must not change; undefined if they may. */
  #templates: readonly string[] | undefined;

  private constructor(options: InstallationCaseOptions) {
    this.#options = options;
    this.requests = REQUESTS[options.action] ?? 1;
  }

  /** begin creates the prerequisites of the action. */
  static async begin(options: InstallationCaseOptions): Promise<InstallationCase> {
    const one = new InstallationCase(options);
    if (options.action === 'install') return one;
    await (options.action === 'migration' ? one.#installLegacy() : one.#install());
    await one.done(AbortSignal.timeout(TIMEOUT_MS));
    if (options.action === 'migration') one.#templates = await one.#readTemplates();
    return one;
  }

  isOwn({ resource, namespace, name }: Identified): boolean {
    // The addresses of Services are objects of their own.
    if (resource.endsWith('.operator.openshift.io') || resource === 'ipaddresses.networking.k8s.io') return true;
    if (namespace === OPERANDS) return !isBystander(name);
    return (
      namespace === undefined && /^(spire-|csi\.spiffe\.io$|zero-trust-workload-identity-manager-spire-)/.test(name)
    );
  }

  async act(): Promise<void> {
    const { admin, action } = this.#options;
    if (action === 'install') return this.#install();
    if (action === 'cascade') {
      const { trustDomain, clusterName } = SECOND;
      const body = { spec: { trustDomain, clusterName } };
      this.#state = 'second';
      await admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body });
      return;
    }
    if (action === 'migration') {
      this.#state = 'first';
      const body = { metadata: { annotations: { [ANNOTATIONS.migration]: null } } };
      await admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body });
      return;
    }
    this.#state = 'nothing';
    await admin.delete(ZeroTrustWorkloadIdentityManager, KEY, { propagationPolicy: 'Background' });
  }

  async progress(): Promise<number> {
    const all = expectedObjects(FIRST, undefined).length;
    return Math.max(0, 1 - (await this.problems(false)).length / all);
  }

  /** Somebody damages or deletes objects of the operator. Some of them do not exist at that moment. */
  async meanwhile(random: Random): Promise<void> {
    const { admin } = this.#options;
    const inNamespace = (name: string) => ({ namespace: OPERANDS, name });
    const disturbances: readonly (() => Promise<unknown>)[] = [
      () => admin.delete(Service, inNamespace('spire-agent')),
      () => admin.delete(ClusterRole, { name: 'spire-agent' }),
      () => this.#damage(),
      () => admin.delete(ConfigMap, inNamespace('spire-controller-manager')),
    ];
    await pick(random, disturbances)().catch(ignoreNotFound);
  }

  async done(signal: AbortSignal): Promise<void> {
    while ((await this.problems(false)).length > 0) {
      signal.throwIfAborted();
      await this.#rollOut();
      await pause(BETWEEN_CHECKS_MS, undefined, { signal });
    }
  }

  async problems(isLast = true): Promise<readonly string[]> {
    if (isLast && this.#state !== 'nothing') {
      // The present state may be the work of an earlier process: the last one must have checked it too.
      await this.#damage();
      await this.done(AbortSignal.timeout(TIMEOUT_MS));
    }
    const problems = judge(await this.#found(), this.#expected());
    return isLast ? [...problems, ...(await this.#problemsOfMigration())] : problems;
  }

  async end(): Promise<void> {
    const { admin } = this.#options;
    this.#state = 'nothing';
    await admin
      .delete(ZeroTrustWorkloadIdentityManager, KEY, { propagationPolicy: 'Background' })
      .catch(ignoreNotFound);
    await this.done(AbortSignal.timeout(TIMEOUT_MS));
    await admin.delete(ConfigMap, BACKUP_KEY).catch(ignoreNotFound);
  }

  async #install(): Promise<void> {
    const { admin } = this.#options;
    this.#state = 'first';
    const [parent, ...operands] = FIVE;
    if (parent) await admin.create(parent, { metadata: KEY, spec: FIRST } as KubernetesObject);
    for (const kind of operands) await admin.create(kind, { metadata: KEY, spec: {} } as KubernetesObject);
  }

  async #installLegacy(): Promise<void> {
    const { admin } = this.#options;
    this.#state = 'legacy';
    const specs = legacySpecs(FIRST);
    const annotations = { [ANNOTATIONS.migration]: 'disabled' };
    for (const kind of FIVE) {
      const metadata = kind.id === ZeroTrustWorkloadIdentityManager.id ? { ...KEY, annotations } : KEY;
      await admin.create(kind, { metadata, spec: specs[kind.kind] } as KubernetesObject);
    }
  }

  /** A migration restarts no pod, and its first backup is the one with the values of the operands. */
  async #problemsOfMigration(): Promise<readonly string[]> {
    if (!this.#templates) return [];
    const backup = await this.#options.admin.find(ConfigMap, BACKUP_KEY);
    const isComplete = backup?.data?.SpireServer?.includes(FIRST.trustDomain);
    const now = await this.#readTemplates();
    return [
      ...(isComplete ? [] : [`ConfigMap ${BACKUP} does not have the values from before the migration`]),
      ...now.filter((each) => !this.#templates?.includes(each)).map((each) => `${each} has been changed`),
    ];
  }

  /** A changed template is a new generation. */
  async #readTemplates(): Promise<readonly string[]> {
    const { admin } = this.#options;
    const lists = await Promise.all(WORKLOADS.map((kind) => admin.list(kind, { namespace: OPERANDS })));
    return lists.flatMap(({ items }) =>
      items.map(({ metadata }) => `${metadata?.name} ${metadata?.uid} of generation ${metadata?.generation}`),
    );
  }

  async #damage(): Promise<void> {
    const key = { namespace: OPERANDS, name: 'spire-agent' };
    await this.#options.admin.patch(ConfigMap, key, { type: 'merge', body: { data: { 'agent.conf': '{}' } } });
  }

  /** No controller runs the pods of workloads here. The operator waits for them when the trust domain changes. */
  async #rollOut(): Promise<void> {
    const { admin } = this.#options;
    for (const kind of WORKLOADS) {
      const { items } = await admin.list(kind, { namespace: OPERANDS });
      for (const { metadata } of items) {
        const { generation: observedGeneration, name = '', deletionTimestamp } = metadata ?? {};
        if (deletionTimestamp !== undefined) continue;
        const replicas = { replicas: 1, updatedReplicas: 1, readyReplicas: 1 };
        const status = { observedGeneration, ...(kind.id === DaemonSet.id ? {} : replicas) };
        const key = { namespace: OPERANDS, name };
        await admin
          .patch(kind, key, { type: 'merge', body: { status } }, { subresource: 'status' })
          .catch(ignoreNotFound);
      }
    }
  }

  #expected() {
    if (this.#state === 'nothing') return [];
    if (this.#state === 'legacy') return expectedBeforeMigration(FIRST);
    return this.#state === 'first' ? expectedObjects(FIRST, undefined) : expectedObjects(SECOND, FIRST);
  }

  async #found(): Promise<Found> {
    const { admin } = this.#options;
    const labelSelector = 'app.kubernetes.io/managed-by=bowline-ztwim';
    const lists = await Promise.all([
      ...FIVE.map(async (kind) => ({ kind, items: (await admin.list(kind)).items })),
      ...CREATED.map(async (kind) => ({ kind, items: (await admin.list(kind, { labelSelector })).items })),
    ]);
    return new Map(
      lists.flatMap(({ kind, items }) =>
        items.map((object): [string, KubernetesObject] => [`${kind.kind} ${object.metadata?.name}`, object]),
      ),
    );
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
