import {
  ClusterRole,
  ClusterRoleBinding,
  type KubernetesObject,
  keyOf,
  keyString,
  Namespace,
  type ObjectKey,
  type PolicyRule,
  type Resource,
  Role,
  RoleBinding,
  ServiceAccount,
} from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import type { Operator } from '@bowline/runtime';
import { type ApiRequest, type Client, isNotFound } from '@bowline/runtime/client';
import {
  companionManifests,
  installCustomResourceDefinitions,
  installDependencies,
  operatorIdentity,
  type RbacManifest,
  rbacManifests,
  withConfig,
  withinNamespaces,
} from '@bowline/runtime/install';
import { Manager, type ManagerOptions, type WebhookServing } from '@bowline/runtime/manager';
import type { AuditEvent } from '../server/audit/audit-event.ts';
import { untilOwnerAccepted } from './accepted-owners.ts';
import type { Cluster, ClusterWithoutOperators } from './cluster.ts';
import { configureWebhooks } from './configure-webhooks.ts';
import { createInstallNamespaces } from './create-install-namespaces.ts';
import { installCompanions } from './install-companions.ts';
import { CLUSTER_LABEL, isolatedClient } from './isolated-client.ts';
import { dropFinalizers } from './lend-control-plane.ts';
import type { TestNames } from './test-names.ts';
import { waitFor } from './wait-for.ts';

/** OperatorsOptions configures which operators run in a test's cluster, and how. */
export interface OperatorsOptions
  extends Pick<
    ManagerOptions,
    'image' | 'clock' | 'wire' | 'random' | 'log' | 'metrics' | 'leaderElection' | 'drainTimeoutMs' | 'deadWatchAfterMs'
  > {
  readonly operators: readonly Operator[];
  /**
   * The section of the configuration for each operator. A function can use names of the test, for example for a setting
   * that names a namespace. Defaults to none.
   */
  readonly config?: Config | ((c: Cluster) => Config) | undefined;
  /**
   * Returns the namespaces that the operators are limited to, as in an install without cluster-wide rights. Defaults to
   * the whole cluster.
   */
  readonly selectNamespaces?: ((c: Cluster) => Promise<readonly string[]>) | undefined;
  /**
   * Changes the rights of an operator's account, to test how it behaves without them. Defaults to exactly what it
   * declares.
   */
  readonly modifyRbac?: ((manifests: readonly RbacManifest[]) => readonly RbacManifest[]) | undefined;
  /** Wraps the clients of the operators, to observe or disturb their calls. Defaults to no wrapper. */
  readonly wrapClient?: ((client: Client) => Client) | undefined;
  /** The address where probes are served; `manager.ports` holds the port. Defaults to none. */
  readonly healthAddress?: string | undefined;
  /**
   * Reports whether the operators have no work outside of their controllers, such as a process that they wait for.
   * `idle` and `advanceTime` wait for it too. Defaults to true.
   */
  readonly isIdle?: (() => Promise<boolean>) | undefined;
  /** How webhooks are reached and certified. Defaults to a separate loopback port for every operator. */
  readonly webhooks?: TestWebhooks | undefined;
  /**
   * Ends every wait for the operators. If it is aborted before they have started, the start fails and everything is
   * cleaned up.
   */
  readonly signal?: AbortSignal | undefined;
}

type Config = NonNullable<ManagerOptions['config']>;

/** TestWebhooks configures how the webhooks of a test's operators are served. */
export interface TestWebhooks extends Pick<WebhookServing, 'certificates'> {
  /**
   * How the API server reaches the operators: directly (each listens on a port of its own), or, as in a cluster,
   * through one Service each (all share a listener). Defaults to `loopback`.
   */
  readonly reachedAt?: 'loopback' | 'services' | undefined;
}

/** RunningOperators controls the operators of a test, each under its own ServiceAccount. */
export interface RunningOperators {
  /** The manager that runs them; a new one after `restart`. */
  readonly manager: Manager;
  /** The namespace of the manager's Leases. */
  readonly managerNamespace: string;
  /** restart stops the operators, as on SIGTERM, and starts them again with empty caches, queues and memories. */
  restart(): Promise<void>;
  /** stop stops the operators, and throws the error they ended with, once; `restart` starts them again. */
  stop(): Promise<void>;
  /** idle waits until every controller runs and no work is left at this moment. */
  idle(): Promise<void>;
  /**
   * advanceTime advances a VirtualClock from one due timer to the next, and waits after each until all work that it
   * triggers is done: a request in flight must not time out. `minStepMs` groups the timers that fall due within it;
   * defaults to 0.
   */
  advanceTime(ms: number, minStepMs?: number): Promise<void>;
  /** The requests that the operators have sent to the API server so far, as `verb resource namespace/name`. */
  readonly requests: readonly string[];
  /**
   * writes returns the writes of the operators since a time, from the audit log. Leases and access reviews do not
   * count.
   */
  writes(since: number): Promise<readonly string[]>;
}

/**
 * runOperators installs the operators' kinds, missing dependencies, namespaces and companions as admin, creates for
 * each operator a ServiceAccount with exactly the rights that it declares, and runs them in one manager until the
 * cluster is disposed of. `ours` holds the test's names.
 */
export async function runOperators(
  c: ClusterWithoutOperators,
  options: OperatorsOptions,
  ours: TestNames,
): Promise<RunningOperators> {
  const { operators, modifyRbac = (manifests) => manifests, wrapClient = (client) => client, ...rest } = options;
  const { isIdle: hasNoOtherWork = () => Promise.resolve(true), ...given } = rest;
  const { webhooks: serving = {}, signal, selectNamespaces, config: sections = {}, ...others } = given;
  const config = typeof sections === 'function' ? sections(c) : sections;
  const namespaces = await selectNamespaces?.(c);
  // As in production, the manager is not in the namespace of its users' objects: webhooks exclude its namespace.
  const managerNamespace = await c.createNamespace('manager');
  const resources = operators.flatMap((operator) => operator.resources);
  for (const operator of operators) {
    const fieldManager = operatorIdentity(operator).fieldManagers.crds;
    await installCustomResourceDefinitions(c.admin, operator.resources, { fieldManager });
    await installDependencies(c.admin, operator, { signal });
  }
  for (const owner of ownersOf(operators)) await untilOwnerAccepted(c, owner, signal);
  const requests: string[] = [];
  const clients = new Map<string, Client>();
  const installNamespaces: string[] = [];
  const installNames = new Map(operators.map(({ name }) => [name, c.uniqueName(name)]));
  const installNameFor = (operator: Operator): string => installNames.get(operator.name) ?? operator.name;
  for (const operator of operators) {
    const name = installNameFor(operator);
    const webhooks = { certificates: serving.certificates };
    const wanted = { namespace: managerNamespace, serviceAccount: name, name, webhooks };
    const configured = await withConfig(operator, config[operator.name]);
    installNamespaces.push(...(await createInstallNamespaces(c, configured, signal)));
    await installCompanions(c, operator, companionManifests(configured, { ...wanted, namespaces }), signal);
    const manifests = rbacManifests(withinNamespaces(configured, namespaces), wanted);
    const client = await identityOf(c, modifyRbac(manifests), signal);
    const recording = client.checked((request) => void requests.push(describeRequest(request)));
    clients.set(operator.name, isolatedClient(wrapClient(recording), ours));
  }

  const start = () => {
    const manager = new Manager({
      ...others,
      config,
      operators,
      namespaces,
      clientFor: ({ name }) => {
        const client = clients.get(name);
        if (!client) throw new TypeError(`no client was created for the operator ${name}`);
        return client;
      },
      installNameFor,
      webhooksFor: () => ({
        address: '127.0.0.1:0',
        reachedAt: serving.reachedAt === 'services' ? undefined : 'loopback',
        certificates: serving.certificates,
        // The webhooks outlive the operators' own requests, and a test that stops operators sends none meanwhile.
        lingerMs: 0,
      }),
      namespace: managerNamespace,
      healthAddress: others.healthAddress ?? '0',
      metricsAddress: '0',
    });
    const end = new AbortController();
    const running = manager.run(end.signal);
    // The error is reported by `stop`; until then it must not count as unhandled.
    running.catch(() => undefined);
    return { manager, end, running };
  };
  const chart = { managerNamespace, namespaces, reachedAt: serving.reachedAt ?? 'loopback', signal } as const;
  let current = start();
  const configure = async (): Promise<void> => {
    for (const operator of operators.filter(({ webhooks }) => webhooks.length > 0)) {
      const configured = await withConfig(operator, config[operator.name]);
      await configureWebhooks(c, configured, { ...chart, manager: current.manager, name: installNameFor(operator) });
    }
  };
  const stop = async (): Promise<void> => {
    const { end, running } = current;
    // The error they ended with is thrown once: a caller that has received it does not need it again during the
    // cleanup.
    if (end.signal.aborted) return await running.catch(() => undefined);
    end.abort();
    await running;
  };
  c.onDispose(async () => {
    await stop();
    // No controller is left to remove the finalizers, and the namespaces would never be deleted.
    for (const resource of resources) {
      await dropFinalizers(c.admin, resource, ({ metadata: { name, namespace } = {} }) =>
        resource.scope === 'Cluster'
          ? ours.includes(name)
          : ours.includes(namespace) || installNamespaces.includes(namespace ?? ''),
      );
    }
    await deleteNamespaces(c.admin, ours);
  });
  await configure();
  const idle = (): Promise<void> =>
    waitFor('the operators to be idle', async () => (await hasNoOtherWork()) && isIdle(current.manager), signal);
  return {
    managerNamespace,
    requests,
    get manager() {
      return current.manager;
    },
    stop,
    async restart() {
      await stop();
      current = start();
      await configure();
    },
    idle,
    async advanceTime(ms, minStepMs = 0) {
      const { clock } = others;
      if (!(clock instanceof VirtualClock)) throw new TypeError('time can only be advanced on a VirtualClock');
      // A run that has not ended yet would count its delay from the new time.
      await idle();
      const end = clock.monotonic() + ms;
      for (let left = ms; left > 0; left = end - clock.monotonic()) {
        await clock.advance(Math.min(Math.max(clock.nextDueInMs ?? left, minStepMs), left));
        await idle();
      }
    },
    async writes(since) {
      const account = `system:serviceaccount:${managerNamespace}:`;
      return (await c.controlPlane.audit(since))
        .filter(({ user, verb }) => user.username?.startsWith(account) && !READS.has(verb))
        .map(describeWrite)
        .filter((write) => !/^(?:\w+ leases|create \w+accessreviews) /.test(write));
    },
  };
}

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

function describeRequest({ verb, resource, key, namespace = '' }: ApiRequest): string {
  return `${verb} ${resource?.plural ?? ''} ${key ? keyString(key) : namespace}`;
}

function describeWrite({ verb, objectRef = {} }: AuditEvent): string {
  const { resource, subresource, namespace, name = '' } = objectRef;
  return `${verb} ${subresource ? `${resource}/${subresource}` : resource} ${keyString({ namespace, name })}`;
}

function isIdle(manager: Manager): boolean {
  const status = manager.status();
  return (
    status.length > 0 &&
    status.every(
      ({ state, controllers }) =>
        state === 'leading' &&
        controllers.every((each) => each.state === 'running' && each.keys.every((key) => key.state === 'delayed')),
    )
  );
}

const KINDS: Readonly<Record<string, Resource<KubernetesObject>>> = {
  ServiceAccount,
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
};

/** identityOf creates an operator's account and returns a client for it, once the API server honours its rights. */
async function identityOf(
  c: Cluster,
  manifests: readonly RbacManifest[],
  signal: AbortSignal | undefined,
): Promise<Client> {
  let account: ObjectKey | undefined;
  for (const manifest of manifests) {
    const kind = KINDS[manifest.kind ?? ''];
    if (!kind) throw new TypeError(`unknown RBAC manifest kind ${manifest.kind}`);
    if (manifest.kind === 'ServiceAccount') account = keyOf(manifest);
    await c.admin.create(kind, manifest);
    c.onDispose(() =>
      c.admin.delete(kind, keyOf(manifest)).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      }),
    );
  }
  if (!account) throw new TypeError('the RBAC manifests of the operator contain no ServiceAccount');
  const { name, namespace = '' } = account;
  const client = await c.clientFor({ serviceAccount: { namespace, name } });
  for (const manifest of manifests) {
    const [rule] = 'rules' in manifest ? (manifest.rules ?? []) : [];
    if (!rule) continue;
    await waitFor(`the permissions of ${name}`, () => isGranted(client, rule, manifest.metadata?.namespace), signal);
  }
  return client;
}

/** ownersOf returns the kinds whose objects own the objects that operators write. */
function ownersOf(operators: readonly Operator[]): readonly Resource[] {
  const controllers = operators.flatMap((operator) => operator.controllers).filter(({ writes }) => writes.length > 0);
  const owners = controllers.flatMap(({ sources }) => sources.filter(({ role }) => role === 'primary'));
  return owners.map(({ resource }) => resource);
}

async function isGranted(client: Client, rule: PolicyRule, namespace: string | undefined): Promise<boolean> {
  const [resource = '', subresource] = (rule.resources?.[0] ?? '').split('/');
  const name = rule.resourceNames?.[0];
  const { allowed } = await client.canI({
    verb: rule.verbs[0] ?? '',
    group: rule.apiGroups?.[0] ?? '',
    resource,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  });
  return allowed;
}

/** deleteNamespaces removes the namespaces that the operators and the test created: no other cleanup knows them. */
async function deleteNamespaces(admin: Client, ours: TestNames): Promise<void> {
  const { items } = await admin.list(Namespace);
  const left = items.filter(
    ({ metadata }) => ours.includes(metadata?.name) && metadata?.labels?.[CLUSTER_LABEL] === undefined,
  );
  for (const namespace of left) {
    await admin.delete(Namespace, keyOf(namespace)).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}
