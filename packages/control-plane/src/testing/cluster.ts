import {
  ClusterRole,
  ClusterRoleBinding,
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  type KubernetesObject,
  Namespace,
  type ObjectKey,
  Pod,
  type PolicyRule,
  ReplicaSet,
  type Resource,
  Role,
  RoleBinding,
  ServiceAccount,
  StatefulSet,
} from '@bowline/kubernetes';
import type { Operator } from '@bowline/runtime';
import { type Client, isNotFound } from '@bowline/runtime/client';
import { clientOf } from '../connect-client.ts';
import type { ControlPlaneAccess, Identity } from '../control-plane.ts';
import type { KubeconfigDocument } from '../kubeconfig.ts';
import { type Steering, steering } from '../node-agent/steer.ts';
import { CLUSTER_LABEL } from './isolated-client.ts';
import { lendControlPlane } from './lend-control-plane.ts';
import { type OperatorsOptions, type RunningOperators, runOperators } from './run-operators.ts';
import { isTemporary, sharedControlPlane } from './shared-control-plane.ts';
import { TestNames } from './test-names.ts';
import { type Selection, type UntilOptions, until, untilGone, untilList } from './until.ts';

/** ClusterOptions configures the namespaces and the control plane of a test. */
export interface ClusterOptions {
  /** Defaults to the control plane that `isolation` selects. */
  readonly controlPlane?: ControlPlaneAccess | undefined;
  /**
   * `shared`: the control plane of the test run, with namespaces of its own; objects with generated names of other
   * tests are hidden from its operators. `control-plane`: an empty one that no other test uses at the same time, for
   * tests with fixed cluster-scoped names. Defaults to `control-plane` if an operator has a cluster-scoped kind or
   * depends on one, and otherwise to `shared`.
   */
  readonly isolation?: 'shared' | 'control-plane' | undefined;
  /** The prefix of generated names. Defaults to `test`. */
  readonly prefix?: string | undefined;
}

/** ServiceAccountOptions configures what a test's ServiceAccount may do. */
export interface ServiceAccountOptions {
  /** Defaults to a unique name. */
  readonly name?: string | undefined;
  /** Defaults to the cluster's namespace. */
  readonly namespace?: string | undefined;
  /** What it may do in its own namespace. Defaults to nothing. */
  readonly rules?: readonly PolicyRule[] | undefined;
  /** What it may do everywhere. Defaults to nothing. */
  readonly clusterRules?: readonly PolicyRule[] | undefined;
}

/** TestServiceAccount is a ServiceAccount with exactly the rules it was created with. */
export interface TestServiceAccount {
  readonly namespace: string;
  readonly name: string;
  readonly identity: Identity;
  /** Acts as the ServiceAccount; closed with the cluster. */
  readonly client: Client;
}

/** Cluster is a test's part of a control plane: a fresh namespace and clients. Disposing of it cleans up. */
export interface Cluster extends AsyncDisposable {
  readonly controlPlane: ControlPlaneAccess;
  readonly namespace: string;
  readonly admin: Client;
  /**
   * Controls how the control plane's node agent simulates Pods, volumes and nodes. Pods and claims are those of the
   * cluster's namespace unless a target names another. Nodes are shared with other tests: add one, with a taint, before you break it.
   */
  readonly nodeAgent: Steering;
  /** clientFor returns a client with its own connection. It is closed with the cluster. */
  clientFor(identity: Identity): Promise<Client>;
  kubeconfig(identity: Identity): Promise<KubeconfigDocument>;
  /** createNamespace creates another namespace, optionally with labels. It is removed with the cluster. */
  createNamespace(prefix?: string, labels?: Readonly<Record<string, string>>): Promise<string>;
  /**
   * serviceAccount creates a ServiceAccount with the given rules and a client for it. Both are removed with the
   * cluster.
   */
  serviceAccount(options?: ServiceAccountOptions): Promise<TestServiceAccount>;
  /** uniqueName returns a name that no other test uses. */
  uniqueName(prefix?: string): string;
  /** until waits as admin, by watch, for an object to pass the test. The namespace defaults to the cluster's. */
  until<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    test: (object: T) => boolean,
    options?: UntilOptions,
  ): Promise<T>;
  /** untilGone waits as admin, by watch, for an object not to exist. The namespace defaults to the cluster's. */
  untilGone<T extends KubernetesObject>(resource: Resource<T>, key: ObjectKey, options?: UntilOptions): Promise<void>;
  /**
   * untilList waits as admin, by watch, for a selection of objects to pass the test. The namespace defaults to the
   * cluster's.
   */
  untilList<T extends KubernetesObject>(
    resource: Resource<T>,
    selection: Selection,
    test: (items: readonly T[]) => boolean,
    options?: UntilOptions,
  ): Promise<readonly T[]>;
  /** onDispose adds a step to the cleanup, which runs in reverse order. */
  onDispose(work: () => Promise<unknown>): void;
}

/** ClusterWithoutOperators is what operators are installed into. */
export interface ClusterWithoutOperators extends Cluster {
  /** Whether the next test gets the control plane. It is emptied then, and namespaces stay. */
  readonly isReused: boolean;
}

/**
 * cluster creates a namespace for a test on the shared control plane. With `operators`, their kinds, dependencies,
 * namespaces and companions are installed and they run, each as a ServiceAccount with exactly the rights that it declares, until the cluster is disposed of.
 *
 * @example
 * const sites = defineOperator({ name: 'sites', domain: 'example.com', resources: [Site], controllers: [siteController] });
 * await using c = await cluster({ operators: [sites] });
 * const key = { namespace: c.namespace, name: 'a' };
 * await c.admin.create(Site, { metadata: key, spec: { title: 'hello' } });
 * await c.until(Site, key, (site) => findCondition(site, 'Ready')?.status === 'True');
 */
export async function cluster(options: ClusterOptions & OperatorsOptions): Promise<Cluster & RunningOperators>;
export async function cluster(options?: ClusterOptions): Promise<Cluster>;
export async function cluster(options: ClusterOptions & Partial<OperatorsOptions> = {}): Promise<Cluster> {
  const { controlPlane, prefix, isolation: wanted, operators = [], ...others } = options;
  const isolation = wanted ?? (hasClusterScopedKind(operators) ? 'control-plane' : 'shared');
  const ours = new TestNames();
  const c = await emptyCluster({ controlPlane, prefix, isolation }, ours, definitionsOf(operators));
  if (!options.operators) return c;
  try {
    const running = await runOperators(c, { ...others, operators }, ours);
    return Object.defineProperties({ ...c }, Object.getOwnPropertyDescriptors(running));
  } catch (error) {
    await c[Symbol.asyncDispose]();
    throw error;
  }
}

/** definitionsOf returns the names of the CustomResourceDefinitions that are installed for operators. */
function definitionsOf(operators: readonly Operator[]): readonly string[] {
  return operators.flatMap(({ resources, dependencies }) =>
    [...resources, ...dependencies].map(({ crd }) => crd.metadata?.name ?? ''),
  );
}

function hasClusterScopedKind(operators: readonly Operator[]): boolean {
  return operators.some(({ resources, dependencies }) =>
    [...resources, ...dependencies].some(({ scope }) => scope === 'Cluster'),
  );
}

/**
 * emptyCluster returns a cluster without operators; `names` generates its names. `definitions` are those that will be
 * installed in it.
 */
async function emptyCluster(
  options: ClusterOptions,
  names: TestNames,
  definitions: readonly string[],
): Promise<ClusterWithoutOperators> {
  const isLent = options.controlPlane === undefined && options.isolation === 'control-plane';
  const lent = isLent ? await lendControlPlane(definitions) : undefined;
  const controlPlane = lent?.controlPlane ?? options.controlPlane ?? (await sharedControlPlane());
  const prefix = options.prefix ?? 'test';
  const cleanUps: (() => Promise<unknown>)[] = [];
  const onDispose = (work: () => Promise<unknown>): void => {
    cleanUps.push(work);
  };
  if (lent) onDispose(() => lent.release());
  const uniqueName = (start = prefix): string => names.unique(start);
  const clientFor = async (identity: Identity): Promise<Client> => {
    const client = await clientOf(controlPlane, identity, { component: 'test' });
    onDispose(() => client.close());
    return client;
  };
  const admin = await clientFor('admin');
  /** create creates an object that is deleted with the cluster. */
  const create = async <T extends KubernetesObject>(resource: Resource<T>, object: T): Promise<void> => {
    const { name = '', namespace } = object.metadata ?? {};
    await admin.create(resource, object);
    onDispose(() => admin.delete(resource, { namespace, name }).catch(ignoreNotFound));
  };
  const keepsNamespaces = options.controlPlane === undefined && (lent?.isReused ?? (await isTemporary()));
  let first: string | undefined;
  const createNamespace = async (start?: string, labels: Readonly<Record<string, string>> = {}): Promise<string> => {
    const name = uniqueName(start);
    first ??= name;
    const object: Namespace = { metadata: { name, labels: { ...labels, [CLUSTER_LABEL]: first } } };
    if (keepsNamespaces) {
      await admin.create(Namespace, object);
      if (!lent) onDispose(() => deleteWorkloads(admin, name));
    } else {
      await create(Namespace, object);
    }
    // A controller creates it. Pods without an account of their own are refused until then.
    await until(admin, ServiceAccount, { namespace: name, name: 'default' }, () => true);
    return name;
  };
  const here = (resource: Pick<Resource, 'scope'>, key: ObjectKey): ObjectKey =>
    resource.scope === 'Namespaced' ? { namespace: namespace, ...key } : key;
  const namespace = await createNamespace();

  return {
    controlPlane,
    isReused: lent?.isReused ?? false,
    namespace,
    admin,
    nodeAgent: nodeAgentOf(admin, namespace, onDispose),
    clientFor,
    kubeconfig: (identity) => controlPlane.kubeconfig(identity),
    createNamespace,
    uniqueName,
    onDispose,
    async serviceAccount({ rules, clusterRules, ...given }: ServiceAccountOptions = {}) {
      const account = { namespace: given.namespace ?? namespace, name: given.name ?? uniqueName() };
      const subjects = [{ kind: 'ServiceAccount', ...account }];
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io' };
      await create(ServiceAccount, { metadata: account });
      if (rules) {
        await create(Role, { metadata: account, rules });
        await create(RoleBinding, {
          metadata: account,
          subjects,
          roleRef: { ...roleRef, kind: 'Role', name: account.name },
        });
      }
      if (clusterRules) {
        // Cluster-wide names must not collide with those of another test's ServiceAccount of the same name.
        const name = uniqueName(account.name);
        await create(ClusterRole, { metadata: { name }, rules: clusterRules });
        await create(ClusterRoleBinding, {
          metadata: { name },
          subjects,
          roleRef: { ...roleRef, kind: 'ClusterRole', name },
        });
      }
      const identity: Identity = { serviceAccount: account };
      return { ...account, identity, client: await clientFor(identity) };
    },
    until: (resource, key, test, limits) => until(admin, resource, here(resource, key), test, limits),
    untilGone: (resource, key, limits) => untilGone(admin, resource, here(resource, key), limits),
    untilList: (resource, selection, test, limits) =>
      untilList(
        admin,
        resource,
        resource.scope === 'Namespaced' ? { namespace, ...selection } : selection,
        test,
        limits,
      ),
    async [Symbol.asyncDispose]() {
      const errors: unknown[] = [];
      for (const work of cleanUps.toReversed()) await work().catch((error: unknown) => errors.push(error));
      if (errors.length > 0) throw new AggregateError(errors, 'cannot clean up after the test');
    },
  };
}

/** The nodes that a test adds are released with its cluster. */
function nodeAgentOf(admin: Client, namespace: string, onDispose: Cluster['onDispose']): Steering {
  const { nodes, ...others } = steering(admin, { namespace });
  return {
    ...others,
    nodes: {
      ...nodes,
      async add(node) {
        const added = await nodes.add(node);
        onDispose(() => added.release());
        return added;
      },
    },
  };
}

/** deleteWorkloads frees the capacity of the nodes, which tests share. Most tests have no pods. */
async function deleteWorkloads(admin: Client, namespace: string): Promise<void> {
  const { items } = await admin.list(Pod, { namespace, limit: 1, metadataOnly: true });
  if (items.length === 0) return;
  const options = { gracePeriodSeconds: 0, propagationPolicy: 'Background' } as const;
  for (const kind of [CronJob, Deployment, StatefulSet, DaemonSet, Job, ReplicaSet, Pod]) {
    await admin.deleteCollection<KubernetesObject>(kind, { namespace, ...options });
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
