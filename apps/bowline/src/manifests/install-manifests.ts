import type { KubernetesObject, Namespace, ServiceAccount } from '@bowline/kubernetes';
import {
  customResourceDefinition,
  type Operator,
  operatorIdentity,
  rbacManifests,
  type WebhookAddress,
  type WebhookServing,
  webhookConfigurations,
  withinNamespaces,
} from '@bowline/runtime';
import type { Settings } from '../config/settings.ts';
import { clusterName } from '../names.ts';
import { webhookServing } from '../webhook-serving.ts';
import { configText } from './config-text.ts';
import { INSTALLED_IN, NAME, PART, PART_OF } from './install-labels.ts';
import { metricsAccess } from './metrics-access.ts';
import { portOf, workloadManifests } from './workload.ts';

/** Part says who applies an object: an administrator of the cluster, or whoever has rights in the install's namespaces. */
export type Part = 'admin' | 'operator';

/** InstallOptions says what is to be installed, and where. */
export interface InstallOptions {
  readonly settings: Settings;
  /** The manager's namespace. */
  readonly namespace: string;
  readonly image: string;
  /** One Deployment and one account for each operator. Defaults to one for all. */
  readonly perOperator?: boolean | undefined;
}

/** Manifest is an object that belongs to an install. */
export interface Manifest {
  readonly part: Part;
  /** The operator's name, or `bowline` for what all share. */
  readonly owner: string;
  readonly object: KubernetesObject;
}

/**
 * installManifests is everything that runs operators in a cluster, in the order in which it can be applied: what an administrator
 * applies and what anybody with rights in the namespaces may. Made from the operators' declarations; the same ones give the same
 * objects.
 */
export function installManifests(options: InstallOptions): readonly Manifest[] {
  const { settings, namespace, perOperator = false } = options;
  const { operators } = settings;
  const groups = perOperator
    ? operators.map((operator) => ({
        name: operatorIdentity(operator).objectName,
        owner: operator.name,
        operators: [operator],
      }))
    : [{ name: 'bowline', owner: 'bowline', operators }];
  const manifests = [
    // One that operators work in is somebody's already.
    ...(settings.manager.namespaces?.includes(namespace) ? [] : [admin('bowline', managerNamespace(namespace))]),
    ...crdManifests(operators),
    ...groups.flatMap((group) => identity(options, group)),
    ...groups.flatMap(({ name, owner, operators: chosen }) =>
      workloadManifests({
        name,
        namespace,
        operators: chosen,
        image: options.image,
        manager: settings.manager,
        configText: configText(settings, chosen),
      }).map((object): Manifest => ({ part: 'operator', owner, object })),
    ),
    // Last: from then on the API server asks, and refuses objects until somebody answers.
    ...operators.flatMap((operator) => webhooks(options, operator)),
  ];
  return manifests.map((manifest) => labelled(manifest, namespace));
}

/** crdManifests are the CustomResourceDefinitions of operators. Several installs share them. */
export function crdManifests(operators: readonly Operator[]): readonly Manifest[] {
  return operators.flatMap(({ name, resources }) =>
    resources.map((kind) => admin(name, customResourceDefinition(kind))),
  );
}

/** crdObjects are the same as they are applied. */
export function crdObjects(operators: readonly Operator[]): readonly KubernetesObject[] {
  return crdManifests(operators).map((manifest) => labelled(manifest, undefined).object);
}

interface Group {
  /** The name of the Deployment and its account. */
  readonly name: string;
  readonly owner: string;
  readonly operators: readonly Operator[];
}

/** identity is the account of a group, with the rights of each of its operators. */
function identity({ settings, namespace }: InstallOptions, { name, owner, operators }: Group): readonly Manifest[] {
  const { manager } = settings;
  const account: ServiceAccount = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } };
  return [
    { part: 'operator', owner, object: account },
    ...(manager.metrics.secure ? metricsAccess({ name, namespace }).map((object) => admin(owner, object)) : []),
    ...operators.flatMap((operator) =>
      rbacManifests(withinNamespaces(operator, manager.namespaces), {
        namespace,
        serviceAccount: name,
        name: clusterName(operator.name, namespace),
        webhooks: serving(settings, namespace, operator),
      })
        .filter(({ kind }) => kind !== 'ServiceAccount')
        .map((object): Manifest => {
          return { part: object.metadata?.namespace ? 'operator' : 'admin', owner: operator.name, object };
        }),
    ),
  ];
}

function webhooks({ settings, namespace }: InstallOptions, operator: Operator): readonly Manifest[] {
  const { reachedAt, configurations, configurationName, onlyNamespaces } = serving(settings, namespace, operator);
  if (operator.webhooks.length === 0 || configurations === 'runtime') return [];
  const made = webhookConfigurations({
    operator: operator.name,
    domain: operator.domain,
    webhooks: operator.webhooks,
    address: typeof reachedAt === 'object' ? reachedAt : loopback(settings),
    ownNamespace: namespace,
    ownKinds: operator.resources,
    name: configurationName,
    onlyNamespaces,
  });
  return [made.validating, made.mutating].flatMap((object) => (object ? [admin(operator.name, object)] : []));
}

/** Where the API server is on the same machine as the process, as in a test. */
function loopback({ manager }: Settings): WebhookAddress {
  return { url: `https://127.0.0.1:${portOf(manager.webhook.address) ?? 443}` };
}

function serving({ manager }: Settings, namespace: string, operator: Operator): WebhookServing {
  return webhookServing(manager, { namespace, isBesideServer: false }, operator);
}

function managerNamespace(name: string): Namespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

function admin(owner: string, object: KubernetesObject): Manifest {
  return { part: 'admin', owner, object };
}

/** labelled is an object as it is applied: by its labels `uninstall` knows it again. */
function labelled(manifest: Manifest, installedIn: string | undefined): Manifest {
  const { part, owner, object } = manifest;
  const labels = {
    ...object.metadata?.labels,
    [NAME]: object.metadata?.labels?.[NAME] ?? owner,
    ...PART_OF,
    [PART]: part,
    // CustomResourceDefinitions belong to every install that uses them.
    ...(installedIn === undefined || object.kind === 'CustomResourceDefinition' ? {} : { [INSTALLED_IN]: installedIn }),
  };
  return { ...manifest, object: { ...object, metadata: { ...object.metadata, labels } } };
}
