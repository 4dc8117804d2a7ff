import type { KubernetesObject, ServiceAccount } from '@bowline/kubernetes';
import type { Operator } from '@bowline/runtime';
import {
  companionManifests,
  customResourceDefinition,
  installNamespaceManifests,
  operatorIdentity,
  rbacManifests,
  type WebhookAddress,
  webhookConfigurations,
  withinNamespaces,
} from '@bowline/runtime/install';
import type { WebhookServing } from '@bowline/runtime/manager';
import { stringify } from 'yaml';
import type { Settings } from '../config/settings.ts';
import type { InstallFields } from '../install/install-config.ts';
import { INSTALLED_IN, NAME, PART, PART_OF } from '../install/labels.ts';
import { clusterName } from '../install/names.ts';
import { type InstallSource, resolveInstall } from '../install/resolve-install.ts';
import { webhookServing } from '../manager/webhook-serving.ts';
import { metricsAccess } from './metrics-access.ts';
import { needsScratchFolder, SCRATCH_FOLDER } from './scratch-volumes.ts';
import { portOf, workloadManifests } from './workload.ts';

/**
 * Part names who applies an object: an administrator of the cluster, or a user with rights in the install's namespaces.
 */
export type Part = 'admin' | 'operator';

/** InstallOptions configures what is installed, and where. */
export interface InstallOptions {
  readonly settings: Settings;
  /** The manager's namespace. */
  readonly namespace: string;
  /** The fields that the section `install` and the flags set. */
  readonly install: InstallSource;
  /** One Deployment and one ServiceAccount for each operator. Defaults to one for all. */
  readonly perOperator?: boolean | undefined;
  /** Whether the definitions of kinds of other projects that the operators use are included. Defaults to false. */
  readonly dependencies?: boolean | undefined;
}

/** Manifest is an object that belongs to an install. */
export interface Manifest {
  readonly part: Part;
  /** The operator's name, or `bowline` for objects that all share. */
  readonly owner: string;
  readonly object: KubernetesObject;
  /** Whether it stays without the labels of the install, because it also serves others. Defaults to false. */
  readonly isShared?: boolean | undefined;
}

/**
 * installManifests returns every object that runs operators in a cluster, in the order in which they can be applied:
 * those that an administrator applies, and those that any user with rights in the namespaces may apply. They are built
 * from the operators' declarations; the same declarations give the same objects.
 */
export function installManifests(options: InstallOptions): readonly Manifest[] {
  const { settings, namespace, perOperator = false } = options;
  const { operators } = settings;
  const groupOf = (name: string, owner: string, chosen: readonly Operator[]): Group => {
    const names = chosen.map((operator) => operator.name);
    const install = resolveInstall(options.install, names, settings.manager.leaderElection.enabled);
    return { name, owner, operators: chosen, install };
  };
  const groups = perOperator
    ? operators.map((operator) => groupOf(operatorIdentity(operator).objectName, operator.name, [operator]))
    : [groupOf('bowline', 'bowline', operators)];
  const manifests = [
    ...namespaceManifests(options),
    ...(options.dependencies ? dependencyManifests(operators) : []),
    ...crdManifests(operators),
    ...groups.flatMap((group) => identity(options, group)),
    // Before the manager: it may rely on them.
    ...groups.flatMap((group) => companions(options, group)),
    ...groups.flatMap(({ name, owner, operators: chosen, install }) =>
      workloadManifests({
        name,
        namespace,
        operators: chosen,
        install,
        manager: settings.manager,
        configText: configText(settings, chosen, install),
      }).map((object): Manifest => ({ part: 'operator', owner, object })),
    ),
    // Last: from then on the API server calls the webhooks, and rejects objects until they respond.
    ...operators.flatMap((operator) => webhooks(options, operator)),
  ];
  return manifests.map((manifest) => labelled(manifest, namespace));
}

/** namespaceManifests returns the manager's namespace, and those whose names are settings of operators. */
function namespaceManifests({ settings, namespace }: InstallOptions): readonly Manifest[] {
  const configured = installNamespaceManifests(settings.operators);
  const own = configured.find(({ metadata }) => metadata?.name === namespace) ?? {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  };
  const others = configured.filter((each) => each !== own);
  // A namespace that operators work in exists already and has another owner.
  const isForeign = own.metadata?.labels === undefined && settings.manager.namespaces?.includes(namespace);
  return [
    ...(isForeign ? [] : [admin('bowline', own)]),
    ...others.map((object) => ({ ...admin('bowline', object), isShared: true })),
  ];
}

/** dependencyManifests returns the CustomResourceDefinitions of kinds of other projects that operators use. */
function dependencyManifests(operators: readonly Operator[]): readonly Manifest[] {
  const definitions = operators.flatMap(({ name, dependencies }) =>
    dependencies.map((kind) => ({ ...admin(name, customResourceDefinition(kind)), isShared: true })),
  );
  // Several operators may use a kind.
  return [...new Map(definitions.map((each) => [each.object.metadata?.name, each])).values()];
}

/** dependencyObjects returns the CustomResourceDefinitions of dependencies as they are applied. */
export function dependencyObjects(operators: readonly Operator[]): readonly KubernetesObject[] {
  return dependencyManifests(operators).map(({ object }) => object);
}

/** crdManifests returns the CustomResourceDefinitions of operators. Several installs share them. */
export function crdManifests(operators: readonly Operator[]): readonly Manifest[] {
  return operators.flatMap(({ name, resources }) =>
    resources.map((kind) => admin(name, customResourceDefinition(kind))),
  );
}

/** crdObjects returns the CustomResourceDefinitions as they are applied. */
export function crdObjects(operators: readonly Operator[]): readonly KubernetesObject[] {
  return crdManifests(operators).map((manifest) => labelled(manifest, undefined).object);
}

interface Group {
  /** The name of the Deployment and its ServiceAccount. */
  readonly name: string;
  readonly owner: string;
  readonly operators: readonly Operator[];
  readonly install: InstallFields;
}

/** identity returns the ServiceAccount of a group, with the rights of each of its operators. */
function identity({ settings, namespace }: InstallOptions, group: Group): readonly Manifest[] {
  const { name, owner, operators, install } = group;
  const { manager } = settings;
  const account: ServiceAccount = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace, ...install.serviceAccount },
  };
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

/** companions returns the further objects that the operators of a group declare for their install. */
function companions({ settings, namespace }: InstallOptions, { name, operators }: Group): readonly Manifest[] {
  return operators.flatMap((operator) =>
    companionManifests(operator, {
      namespace,
      namespaces: settings.manager.namespaces,
      name: clusterName(operator.name, namespace),
      serviceAccount: name,
    }).map(({ object }) => admin(operator.name, object)),
  );
}

function webhooks({ settings, namespace }: InstallOptions, operator: Operator): readonly Manifest[] {
  const { reachedAt, configurations, onlyNamespaces } = serving(settings, namespace, operator);
  if (operator.webhooks.length === 0 || configurations === 'runtime') return [];
  const made = webhookConfigurations({
    operator: operator.name,
    domain: operator.domain,
    webhooks: operator.webhooks,
    address: typeof reachedAt === 'object' ? reachedAt : loopback(settings),
    ownNamespace: namespace,
    ownKinds: operator.resources,
    name: clusterName(operator.name, namespace),
    onlyNamespaces,
  });
  return [made.validating, made.mutating].flatMap((object) => (object ? [admin(operator.name, object)] : []));
}

/** Used if the API server is on the same machine as the process, as in a test. */
function loopback({ manager }: Settings): WebhookAddress {
  return { url: `https://127.0.0.1:${portOf(manager.webhook.address) ?? 443}` };
}

function serving({ manager }: Settings, namespace: string, operator: Operator): WebhookServing {
  return webhookServing(manager, { namespace, isServerLocal: false }, operator);
}

function admin(owner: string, object: KubernetesObject): Manifest {
  return { part: 'admin', owner, object };
}

/** labelled returns an object with the labels by which `uninstall` finds it. */
function labelled(manifest: Manifest, installedIn: string | undefined): Manifest {
  const { part, owner, object, isShared } = manifest;
  if (isShared) return manifest;
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

/**
 * configText returns the bowline.yaml that a pod reads: the settings without defaults, for the operators that it runs.
 * The namespace is left out, because a pod knows its own, and the install except for its image, because it becomes the
 * pod template: a change that does not concern a running manager must not replace it. The scratch folder is added,
 * because the root file system is read-only.
 */
function configText(
  { given, sections }: Settings,
  operators: readonly Operator[],
  { image }: Pick<InstallFields, 'image'>,
): string {
  const { namespace: _, install: __, ...settings } = given;
  const names = operators.map(({ name }) => name);
  const others = Object.keys(sections).filter((name) => !names.includes(name));
  const kept = Object.fromEntries(Object.entries(settings).filter(([field]) => !others.includes(field)));
  const scratchFolder = needsScratchFolder(operators) ? { scratchFolder: SCRATCH_FOLDER } : {};
  return stringify(
    { ...scratchFolder, ...kept, operators: names, ...(image === undefined ? {} : { install: { image } }) },
    { sortMapEntries: true, aliasDuplicateObjects: false, version: '1.1' },
  );
}
