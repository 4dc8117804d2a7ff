import { CustomResourceDefinition, Deployment, type KubernetesObject, keyOf, keyString } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import { BowlineError, type Operator } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import { PART_OF } from '../install/labels.ts';
import { createdWorkloads } from './declared-objects.ts';
import type { FoundObject } from './install-state.ts';
import {
  deleteObjects,
  hasHeldObjects,
  isGone,
  type KindInScope,
  kindsOf,
  releaseObjects,
} from './operator-objects.ts';
import type { Plan, StepName } from './plan-uninstall.ts';

/** UninstallOptions configures an uninstall. */
export interface UninstallOptions {
  readonly client: Client;
  readonly plan: Plan;
  /** The operators of the plan. */
  readonly operators: readonly Operator[];
  /**
   * Deletes the operators' objects first, while the operators can still apply their deletion policies, and then their
   * kinds.
   */
  readonly deleteResources: boolean;
  /** How long the deletion of objects may take. */
  readonly timeoutMs: number;
  readonly wire: Clock;
  readonly signal: AbortSignal;
  /** Called after every step. */
  readonly progress: (line: string) => void;
}

const POLL_INTERVAL_MS = 500;

/**
 * runUninstall executes a plan. Every step is complete before the next begins, and reads from the cluster what is left
 * to do: it can be interrupted anywhere and run again.
 */
export async function runUninstall(options: UninstallOptions): Promise<void> {
  const { plan, operators, deleteResources } = options;
  const kinds = kindsOf(operators, plan.scopes);
  if (deleteResources) await deleteAll(options, kinds);
  const removeIn = async (...names: readonly StepName[]): Promise<void> => {
    for (const { name, objects } of plan.steps.filter((step) => names.includes(step.name))) {
      for (const found of objects) await remove(options, found, name);
    }
  };
  await removeIn('webhooks', 'workloads', 'created-workloads');
  await requireNoWorkloads(options);
  await removeIn('rights', 'companions', 'leftovers');
  for (const kind of kinds) {
    const released = await releaseObjects(options.client, kind, options.signal);
    if (released > 0) options.progress(`released ${released} ${kind.resource.kind}`);
  }
  if (deleteResources) for (const kind of kinds) await deleteKind(options, kind);
  // Until now it was needed to know which operators worked where.
  await removeIn('configuration');
}

/** The manager may have created workloads after the plan was shown. Only what the plan lists is deleted. */
async function requireNoWorkloads({ client, plan, operators, signal }: UninstallOptions): Promise<void> {
  const left = await createdWorkloads(client, operators, plan.scopes, signal);
  if (left.length === 0) return;
  throw new BowlineError(
    'BOWLINE_UNINSTALL_CHANGED',
    `${abbreviate(left.map(describe))} appeared after the plan was made: run the command again to see and remove what is left`,
  );
}

async function remove(
  { client, progress, ...options }: UninstallOptions,
  found: FoundObject,
  step?: StepName,
): Promise<void> {
  const { resource, object } = found;
  const { uid } = object.metadata ?? {};
  const isWorkload = step === 'created-workloads' || (step === 'workloads' && resource.id === Deployment.id);
  try {
    await client.delete(resource, keyOf(object), {
      // Another object may have the same name by now.
      preconditions: uid ? { uid } : undefined,
      propagationPolicy: isWorkload ? 'Foreground' : 'Background',
      signal: options.signal,
    });
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  // A pod of the manager that still runs would add the finalizers again; other pods hold what they must release.
  if (isWorkload) await untilGone({ client, ...options }, found);
  progress(`removed ${describe(found)}`);
}

async function untilGone(
  { client, wire, timeoutMs, signal }: Pick<UninstallOptions, 'client' | 'wire' | 'timeoutMs' | 'signal'>,
  found: FoundObject,
): Promise<void> {
  const until = wire.monotonic() + timeoutMs;
  for (;;) {
    const current = await client.find(found.resource, keyOf(found.object), { signal });
    if (!current || current.metadata?.uid !== found.object.metadata?.uid) return;
    if (wire.monotonic() >= until) throw timeoutError(`${describe(found)} and its pods`);
    await wire.sleep(POLL_INTERVAL_MS, signal);
  }
}

/** The operators do the work: this function requests the deletion, and waits. */
async function deleteAll(options: UninstallOptions, kinds: readonly KindInScope[]): Promise<void> {
  const { client, wire, timeoutMs, signal, progress } = options;
  const own = kinds.filter(({ isOwn }) => isOwn);
  const until = wire.monotonic() + timeoutMs;
  let before: number | undefined;
  await requireRunning(options, own);
  for (;;) {
    const left: string[] = [];
    for (const kind of own) {
      const objects = await deleteObjects(client, kind, signal);
      left.push(...objects.map((object) => describe({ resource: kind.resource, object })));
    }
    if (left.length === 0) break;
    if (left.length !== before) progress(`waiting for ${left.length} objects to be deleted`);
    before = left.length;
    if (wire.monotonic() >= until) throw timeoutError(abbreviate(left));
    await wire.sleep(POLL_INTERVAL_MS, signal);
  }
  if (before !== undefined) progress('all objects are deleted');
}

/** Objects with our finalizer can only be deleted while their operator runs. */
async function requireRunning(
  { client, plan, signal }: UninstallOptions,
  kinds: readonly KindInScope[],
): Promise<void> {
  for (const kind of kinds) {
    if (!(await hasHeldObjects(client, kind, signal))) continue;
    const workload = plan.workloads.find(({ operators }) => operators.includes(kind.scope.operator));
    const key = { namespace: plan.namespace, name: workload?.name ?? 'bowline' };
    const running = await client.find(Deployment, key, { signal });
    if ((running?.status?.readyReplicas ?? 0) > 0) continue;
    throw new BowlineError(
      'BOWLINE_UNINSTALL_NOT_RUNNING',
      `cannot delete the ${kind.resource.kind} objects: ${kind.scope.operator} must apply their deletion policies, but the Deployment ${keyString(key)} has no ready pod; repair it, or omit --delete-resources to keep the objects`,
    );
  }
}

/**
 * A kind is deleted only if it was installed with Bowline, no other install uses it, and no object of it exists
 * anywhere.
 */
async function deleteKind(options: UninstallOptions, { resource, scope, isOwn }: KindInScope): Promise<void> {
  const { client, signal, progress } = options;
  if (!isOwn) return;
  const key = { name: `${resource.plural}.${resource.group}` };
  const definition = await client.find(CustomResourceDefinition, key, { signal });
  if (!definition) return;
  const keep = (why: string): void => progress(`kept CustomResourceDefinition ${key.name}: ${why}`);
  if (scope.others === 'all' || scope.others.length > 0) return keep('another install uses it');
  const labels = Object.entries(PART_OF);
  if (labels.some(([label, value]) => definition.metadata?.labels?.[label] !== value)) {
    return keep('it does not have the label of Bowline');
  }
  const { items } = await client.list(resource, { metadataOnly: true, limit: 1, signal });
  if (items.length > 0) return keep('it has objects that this install does not manage');
  await remove(options, { resource: CustomResourceDefinition, object: definition });
}

/** describe returns the name of an object for messages. */
export function describe({
  resource,
  object,
}: {
  readonly resource: FoundObject['resource'];
  readonly object: KubernetesObject;
}): string {
  return `${resource.kind} ${keyString(keyOf(object))}`;
}

function abbreviate(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

function timeoutError(what: string): BowlineError {
  return new BowlineError(
    'BOWLINE_UNINSTALL_STUCK',
    `${what} were not deleted in time: see their conditions, events and finalizers; run the command again to continue, with a longer --timeout if they are only slow`,
  );
}
