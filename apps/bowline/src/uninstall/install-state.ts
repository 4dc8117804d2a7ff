import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Deployment,
  type KubernetesObject,
  Lease,
  MutatingWebhookConfiguration,
  type ObjectKey,
  PodDisruptionBudget,
  type Resource,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { type Client, isKindNotServed } from '@bowline/runtime/client';
import { parse } from 'yaml';
import { CONFIG_KEY, INSTALLED_IN, NAME, PART_OF } from '../install/labels.ts';
import { clusterName, identityOf } from '../install/names.ts';

/** FoundObject is an object in the cluster whose metadata is known. */
export interface FoundObject {
  readonly resource: Resource<KubernetesObject>;
  readonly object: KubernetesObject;
}

/** InstalledWorkload describes what a Deployment of Bowline runs, according to its configuration. */
export interface InstalledWorkload {
  /** The name of the Deployment, its ServiceAccount and its configuration. */
  readonly name: string;
  readonly namespace: string;
  readonly operators: readonly string[];
  /** Undefined means the whole cluster. */
  readonly namespaces: readonly string[] | undefined;
}

/** InstallState describes what the cluster holds of an install. */
export interface InstallState {
  /** The manager's namespace. */
  readonly namespace: string;
  readonly workloads: readonly InstalledWorkload[];
  /** All objects with the install's label, the configurations included. */
  readonly objects: readonly FoundObject[];
  /** What runs from other namespaces of the cluster, by other installs or without one. */
  readonly others: readonly InstalledWorkload[];
}

/**
 * INSTALL_KINDS are the kinds of an install; companions may have others, which the operators declare. Within a step of
 * the uninstall, objects are removed in this order.
 */
export const INSTALL_KINDS: readonly Resource<KubernetesObject>[] = [
  ValidatingWebhookConfiguration,
  MutatingWebhookConfiguration,
  Deployment,
  PodDisruptionBudget,
  Service,
  RoleBinding,
  ClusterRoleBinding,
  Role,
  ClusterRole,
  ServiceAccount,
  ConfigMap,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
];

/**
 * readInstall finds what the cluster holds of the install whose manager is in a namespace, and what the known operators
 * created there for themselves, as `bowline run` does even without an install. It changes nothing.
 */
export async function readInstall(
  client: Pick<Client, 'list' | 'find'>,
  namespace: string,
  known: readonly string[],
  signal: AbortSignal,
): Promise<InstallState> {
  const objects: FoundObject[] = [];
  for (const resource of INSTALL_KINDS) objects.push(...(await listInstalled(client, resource, namespace, signal)));
  const all = await client.list(ConfigMap, { labelSelector: `${partOf},${INSTALLED_IN}`, signal });
  const installed = all.items.flatMap(workloadOf);
  const everywhere = [...installed, ...(await runningWithoutInstall(client, installed, known, signal))];
  return {
    namespace,
    objects: [...objects, ...(await createdAtRunTime(client, namespace, known, signal))],
    workloads: installed.filter((each) => each.namespace === namespace),
    others: everywhere.filter((each) => each.namespace !== namespace),
  };
}

/**
 * listInstalled returns the objects of a kind with the label of an install, and with one more label if it is given. A
 * kind that is not served has none.
 */
export async function listInstalled(
  client: Pick<Client, 'list'>,
  resource: Resource<KubernetesObject>,
  namespace: string,
  signal: AbortSignal,
  label?: string,
): Promise<readonly FoundObject[]> {
  const labelSelector = [partOf, `${INSTALLED_IN}=${namespace}`, ...(label === undefined ? [] : [label])].join();
  try {
    const { items } = await client.list(resource, { labelSelector, metadataOnly: true, signal });
    return items.map((object) => ({ resource, object }));
  } catch (error) {
    if (isKindNotServed(error)) return [];
    throw error;
  }
}

const partOf = Object.entries(PART_OF)
  .map(([label, value]) => `${label}=${value}`)
  .join();

/** The name of objects that all operators of an install share. */
const SHARED = 'bowline';

/** ownerOf returns the operator that an object is for; undefined for objects that the operators of an install share. */
export function ownerOf({ object }: FoundObject): string | undefined {
  const name = object.metadata?.labels?.[NAME];
  return name === SHARED ? undefined : name;
}

/** operatorsOf returns the names of the operators that have installed objects. */
export function operatorsOf(
  objects: readonly FoundObject[],
  workloads: readonly InstalledWorkload[],
): readonly string[] {
  const named = [...objects.flatMap((found) => ownerOf(found) ?? []), ...workloads.flatMap((each) => each.operators)];
  return [...new Set(named)].sort();
}

/** A process that holds an operator's Lease runs it. Where the operator works is unknown then: perhaps everywhere. */
async function runningWithoutInstall(
  client: Pick<Client, 'list'>,
  installed: readonly InstalledWorkload[],
  known: readonly string[],
  signal: AbortSignal,
): Promise<readonly InstalledWorkload[]> {
  const running: InstalledWorkload[] = [];
  for (const operator of known) {
    const name = identityOf(operator).objectName;
    const { items } = await client.list(Lease, { fieldSelector: `metadata.name=${name}`, signal });
    for (const { metadata, spec } of items) {
      const namespace = metadata?.namespace ?? '';
      const isInstalled = installed.some((each) => each.namespace === namespace && each.operators.includes(operator));
      if (isInstalled || !spec?.holderIdentity) continue;
      running.push({ name, namespace, operators: [operator], namespaces: undefined });
    }
  }
  return running;
}

/** The names of objects that operators create for themselves while they run follow from the operators' names. */
async function createdAtRunTime(
  client: Pick<Client, 'find'>,
  namespace: string,
  operators: readonly string[],
  signal: AbortSignal,
): Promise<readonly FoundObject[]> {
  const found: FoundObject[] = [];
  for (const operator of operators) {
    const label = { [NAME]: operator };
    for (const [resource, key] of webhookObjects(operator, namespace)) {
      const object = await client.find(resource, key, { signal });
      const labels = object?.metadata?.labels;
      // An object of that name may belong to another owner; installed ones have been found by their label.
      const isOurs =
        labels?.[identityOf(operator).labels.webhooksOf] === operator && labels[INSTALLED_IN] === undefined;
      if (object && isOurs) found.push(named(resource, object, label));
    }
    const lease = await client.find(Lease, { namespace, name: identityOf(operator).objectName }, { signal });
    if (lease) found.push(named(Lease, lease, label));
  }
  return found;
}

function webhookObjects(
  operator: string,
  namespace: string,
): readonly (readonly [Resource<KubernetesObject>, ObjectKey])[] {
  return [
    [Secret, { namespace, name: `${operator}-webhook-tls` }],
    [ValidatingWebhookConfiguration, { name: clusterName(operator, namespace) }],
    [MutatingWebhookConfiguration, { name: clusterName(operator, namespace) }],
  ];
}

/** Only the metadata is kept: the values of a Secret are not needed here. */
function named(
  resource: Resource<KubernetesObject>,
  { metadata }: KubernetesObject,
  labels: Readonly<Record<string, string>>,
): FoundObject {
  return { resource, object: { metadata: { ...metadata, labels } } };
}

function workloadOf({ metadata, data }: ConfigMap): readonly InstalledWorkload[] {
  const namespace = metadata?.labels?.[INSTALLED_IN];
  if (namespace === undefined || namespace !== metadata?.namespace || data?.[CONFIG_KEY] === undefined) return [];
  const config = parseQuietly(data[CONFIG_KEY]);
  const operators = texts(config?.operators) ?? [];
  return [{ name: metadata.name ?? '', namespace, operators, namespaces: texts(config?.namespaces) }];
}

/** The configuration may have been broken since: then it is unknown what the Deployment runs. */
function parseQuietly(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function texts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : undefined;
}
