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
import { ClusterSPIFFEID } from '../../../../../operators/ztwim/src/third-party/cluster-spiffe-id.ts';
import type { Identified } from '../../fingerprint.ts';
import type { CrashCase } from '../../scenario.ts';
import { expectedObjects, type Values } from './expected-objects.ts';
import { type Found, judge } from './judge.ts';
import { BUNDLE, isBystander, OPERANDS } from './world.ts';

const KEY = { name: 'cluster' };
const TIMEOUT_MS = 180_000;
const BETWEEN_CHECKS_MS = 100;
/** About as many requests as the operator sends in each action. */
const REQUESTS: Readonly<Record<string, number>> = { install: 70, cascade: 25, deletion: 70 };
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
export const actions: readonly string[] = ['install', 'deletion', 'cascade'];

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
  #state: 'nothing' | 'first' | 'second' = 'nothing';

  private constructor(options: InstallationCaseOptions) {
    this.#options = options;
    this.requests = REQUESTS[options.action] ?? 1;
  }

  /** begin creates the prerequisites of the action. */
  static async begin(options: InstallationCaseOptions): Promise<InstallationCase> {
    const one = new InstallationCase(options);
    if (options.action !== 'install') {
      await one.#install();
      await one.done(AbortSignal.timeout(TIMEOUT_MS));
    }
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
    return judge(await this.#found(), this.#expected());
  }

  async end(): Promise<void> {
    const { admin } = this.#options;
    this.#state = 'nothing';
    await admin
      .delete(ZeroTrustWorkloadIdentityManager, KEY, { propagationPolicy: 'Background' })
      .catch(ignoreNotFound);
    await this.done(AbortSignal.timeout(TIMEOUT_MS));
  }

  async #install(): Promise<void> {
    const { admin } = this.#options;
    this.#state = 'first';
    const [parent, ...operands] = FIVE;
    if (parent) await admin.create(parent, { metadata: KEY, spec: FIRST } as KubernetesObject);
    for (const kind of operands) await admin.create(kind, { metadata: KEY, spec: {} } as KubernetesObject);
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
