import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Deployment,
  Lease,
  MutatingWebhookConfiguration,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';
import { COMPANION } from '../install/labels.ts';
import { type FoundObject, type InstalledWorkload, type InstallState, operatorsOf, ownerOf } from './install-state.ts';

/** StepName names a step of an uninstall. */
export type StepName = (typeof ORDER)[number];

/** Step is one step of an uninstall: its objects are removed before the next step begins. */
export interface Step {
  readonly name: StepName;
  readonly objects: readonly FoundObject[];
}

/** Scope describes where an operator of the install worked. */
export interface Scope {
  readonly operator: string;
  /** Undefined means the whole cluster. */
  readonly namespaces: readonly string[] | undefined;
  /**
   * The namespaces where another install runs the same operator; `all` for everywhere. Objects there belong to that
   * install.
   */
  readonly others: readonly string[] | 'all';
}

/** Plan lists what an uninstall removes, in order. */
export interface Plan {
  readonly namespace: string;
  readonly operators: readonly string[];
  readonly steps: readonly Step[];
  readonly scopes: readonly Scope[];
  /** The Deployments whose operators are removed. */
  readonly workloads: readonly InstalledWorkload[];
}

/**
 * Webhooks are removed first: once no process serves them, the API server would reject every object. The workloads that
 * operators created follow the manager, which would create them again. Companions, which may guard what permissions
 * allow, follow the permissions. The configuration is removed last: it records which operators worked where, so that an
 * interrupted run can be continued.
 */
const ORDER = [
  'webhooks',
  'workloads',
  'created-workloads',
  'rights',
  'companions',
  'leftovers',
  'configuration',
] as const;

const KINDS: readonly (readonly [StepName, readonly { readonly id: string }[]])[] = [
  ['webhooks', [ValidatingWebhookConfiguration, MutatingWebhookConfiguration]],
  ['workloads', [Deployment, PodDisruptionBudget, Service]],
  ['rights', [RoleBinding, ClusterRoleBinding, Role, ClusterRole, ServiceAccount]],
  ['leftovers', [Lease, Secret]],
  ['configuration', [ConfigMap]],
];

function stepOf({ resource, object }: FoundObject): StepName | undefined {
  if (object.metadata?.labels?.[COMPANION] !== undefined) return 'companions';
  return KINDS.find(([, kinds]) => kinds.some(({ id }) => id === resource.id))?.[0];
}

/** stepsOf distributes objects over the steps; `created` holds the workloads that operators created. */
function stepsOf(objects: readonly FoundObject[], created: readonly FoundObject[] = []): readonly Step[] {
  return ORDER.map((name) => ({
    name,
    objects: name === 'created-workloads' ? created : objects.filter((found) => stepOf(found) === name),
  })).filter((step) => step.objects.length > 0);
}

/** withObjects adds objects to a plan: those of the install, and the workloads that its operators created. */
export function withObjects(plan: Plan, objects: readonly FoundObject[], created: readonly FoundObject[]): Plan {
  const planned = plan.steps.flatMap((step) => step.objects);
  return { ...plan, steps: stepsOf([...planned, ...objects], created) };
}

/**
 * planUninstall returns what is removed of an install; `chosen` holds the operators to remove, by default all. Nothing
 * is installed of `abandoned` operators any more; only their finalizers are left to remove. It throws
 * BOWLINE_UNINSTALL_SHARED if an operator to remove runs in one process with others that stay.
 */
export function planUninstall(
  state: InstallState,
  chosen: readonly string[] | undefined,
  abandoned: readonly string[] = [],
): Plan {
  const { namespace, workloads, objects, others } = state;
  const installed = operatorsOf(objects, workloads);
  const removable = [...installed, ...abandoned];
  const operators = (chosen ?? removable).filter((name) => removable.includes(name));
  const leaving = workloads.filter((each) => each.operators.some((name) => operators.includes(name)));
  for (const workload of leaving) refuseShared(workload, operators);
  const isEmpty = installed.every((name) => operators.includes(name));
  const isRemoved = (found: FoundObject): boolean => {
    const owner = ownerOf(found);
    return owner === undefined ? isEmpty : operators.includes(owner);
  };
  return {
    namespace,
    operators,
    workloads: leaving,
    steps: stepsOf(objects.filter(isRemoved)),
    scopes: operators.map((operator) => scopeOf(operator, leaving, others)),
  };
}

function refuseShared({ name, namespace, operators }: InstalledWorkload, leaving: readonly string[]): void {
  const staying = operators.filter((each) => !leaving.includes(each));
  if (staying.length === 0) return;
  const going = operators.filter((each) => leaving.includes(each)).join(',');
  throw new BowlineError(
    'BOWLINE_UNINSTALL_SHARED',
    `cannot uninstall ${going} alone: the Deployment ${namespace}/${name} also runs ${staying.join(', ')}; apply \`bowline manifests --operators ${staying.join(',')} …\` first, then run \`bowline uninstall --operators ${going}\` again`,
  );
}

/** scopeOf returns where an operator of the leaving workloads worked, and where other installs run it. */
export function scopeOf(
  operator: string,
  leaving: readonly InstalledWorkload[],
  others: readonly InstalledWorkload[],
): Scope {
  const runs = ({ operators }: InstalledWorkload): boolean => operators.includes(operator);
  const theirs = others.filter(runs);
  return {
    operator,
    namespaces: leaving.find(runs)?.namespaces,
    others: theirs.some(({ namespaces }) => namespaces === undefined)
      ? 'all'
      : theirs.flatMap(({ namespaces }) => namespaces ?? []),
  };
}
