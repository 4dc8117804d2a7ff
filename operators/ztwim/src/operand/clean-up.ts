import { type KubernetesObject, keyOf, type Resource } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { ReconcileResult } from '@bowline/runtime';
import type { LiveClient } from '@bowline/runtime/controller';
import {
  type CleanupOptions,
  type CleanupTier,
  cleanUpTiers,
  type Deletion,
  type Leftover,
  type RemoveOptions,
  type RemoveResult,
  release,
} from '@bowline/runtime/writing';
import { MANAGER, SINGLETON } from '../api/names.ts';
import type { OperandKind } from '../api/operand-kinds.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { Deps } from '../deps.ts';
import { type Component, MANAGED_BY } from '../objects/labels.ts';
import { consumersBefore } from './consumers.ts';
import { OPERAND_FINALIZERS } from './operand-kind.ts';
import { type ReportTarget, reportDeletion } from './report.ts';

/** CleanupRun is the part of a cleanup's context that the cleanup of an operand needs. */
export interface CleanupRun extends Omit<ReportTarget, 'deps'> {
  readonly deps: Deps;
  readonly clock: Clock;
  readonly deletion: Deletion;
  readonly fieldManager: string;
  readonly signal: AbortSignal;
  readonly live: LiveClient;
}

/** Removal removes and finds objects of kinds that are known only when it runs. */
interface Removal {
  remove(
    resource: Resource,
    key: { readonly namespace?: string | undefined; readonly name: string },
    options?: RemoveOptions,
  ): Promise<RemoveResult>;
  isServed(resource: Resource): boolean;
}

/** OperandCleanup describes what is deleted with an operand. */
export interface OperandCleanup {
  readonly kind: OperandKind;
  readonly component: Component['component'];
  /** The kinds of its objects in the order in which they are deleted. */
  readonly tiers: readonly { readonly name: string; readonly kinds: readonly Resource<KubernetesObject>[] }[];
  /** waitsFor returns what else must end first, as a reason and a message; undefined if there is nothing. */
  readonly waitsFor?:
    | ((run: CleanupRun) => Promise<{ readonly reason: string; readonly message: string } | undefined>)
    | undefined;
  /**
   * finish does what is left when all objects are gone, and returns what it waits for; undefined if nothing is left. After
   * the time limit it runs once more, and is not awaited.
   */
  readonly finish?:
    | ((
        run: CleanupRun,
        isServed: (resource: Resource) => boolean,
      ) => Promise<{ readonly reason: string; readonly message: string } | undefined>)
    | undefined;
}

const DEFAULT_TIMEOUT_S = 30;
const POLL_MS = 2_000;
const MAX_NAMED = 5;

/**
 * cleanUpOperand deletes the objects of an operand that is being deleted: after its consumers, and in tiers. Every wait ends
 * at the operand's time limit, unless the user wants to wait; what is left then is deleted without waiting.
 */
export async function cleanUpOperand(
  context: CleanupRun & { readonly remove: unknown; readonly isServed: unknown },
  cleanup: OperandCleanup,
): Promise<ReconcileResult> {
  const { clock, deletion, live, event, deps } = context;
  const { kind } = cleanup;
  const finalizer = OPERAND_FINALIZERS[kind];
  // The kinds are known only when it runs. Undeclared ones are still rejected, by the permissions.
  const removal = context as unknown as Removal;
  const complete = (message: string): ReconcileResult => {
    event('Normal', 'CleanupCompleted', message);
    deps.metrics.operandReady(kind, false);
    deps.metrics.cleanedUp(finalizer, clock.now() - deletion.at);
    return undefined;
  };
  if (deletion.mode === 'orphan') {
    await cleanUpTiers(context, tiersOf(context, removal, cleanup), stepOf(context, removal));
    return complete('the objects of this operand stay');
  }
  event('Normal', 'CleanupStarted', 'the objects of this operand are deleted');
  const parent = await live.find(ZeroTrustWorkloadIdentityManager, { name: SINGLETON });
  const { timeoutSeconds = DEFAULT_TIMEOUT_S, forceFinalizerRemoval = true } = parent?.spec.deletion ?? {};
  const deadline = deletion.at + timeoutSeconds * 1_000;
  const isOverdue = clock.now() >= deadline;
  if (isOverdue && forceFinalizerRemoval) {
    const { found, left } = await removeAll(context, removal, cleanup);
    const unfinished = await cleanup.finish?.(context, (resource) => removal.isServed(resource));
    if (unfinished) event('Warning', 'CleanupTimeout', `not awaited any longer: ${unfinished.message}`);
    if (found > 0 || unfinished) deps.metrics.timedOut(finalizer);
    return complete(`objects left: ${left}`);
  }
  const wait = (reason: string, message: string): ReconcileResult => {
    if (isOverdue && !hasTimedOut(context)) deps.metrics.timedOut(finalizer);
    reportDeletion(context, kind, isOverdue ? 'CleanupTimedOut' : reason, message);
    return { requeueAfterMs: Math.max(1, isOverdue ? POLL_MS : Math.min(POLL_MS, deadline - clock.now())) };
  };

  const consumers = await consumersBefore(kind, { live, clock, deletion, parent });
  if (consumers.length > 0) return wait('WaitingForConsumers', `${consumers.join(', ')} must be deleted first`);
  const other = await cleanup.waitsFor?.(context);
  if (other) return wait(other.reason, other.message);

  const progress = await cleanUpTiers(context, tiersOf(context, removal, cleanup), stepOf(context, removal));
  if (progress.isDone) {
    const unfinished = await cleanup.finish?.(context, (resource) => removal.isServed(resource));
    return unfinished ? wait(unfinished.reason, unfinished.message) : complete('objects left: 0');
  }
  const names = progress.waiting.slice(0, MAX_NAMED).map((each) => `${each.kind} ${each.key.name}`);
  return wait('WaitingForWorkload', `${names.join(', ')} must be gone first`);
}

/** Without a finalizer that may be forced, a step has no time limit of its own. */
function stepOf(context: CleanupRun, removal: Removal): CleanupOptions {
  return {
    deletion: context.deletion,
    remove: ({ resource, object }, options) =>
      removal.remove(resource, keyOf(object), {
        ...options,
        ...propagation(resource),
        labels: MANAGED_BY,
        uid: object.metadata?.uid,
      }),
    release: ({ resource, object }) => release(context, resource, object, { labels: Object.keys(MANAGED_BY) }),
  };
}

/** The pods of a workload are gone when a foreground deletion ends. */
function propagation({ group }: Resource): Pick<RemoveOptions, 'propagationPolicy'> {
  return group === 'apps' ? { propagationPolicy: 'Foreground' } : {};
}

function tiersOf(run: CleanupRun, removal: Removal, { component, tiers }: OperandCleanup): readonly CleanupTier[] {
  return tiers.map(({ name, kinds }) => ({
    name,
    find: async () => {
      const served = kinds.filter((resource) => removal.isServed(resource));
      return (await Promise.all(served.map((resource) => find(run, resource, component)))).flat();
    },
  }));
}

async function find(
  { live, deps }: CleanupRun,
  resource: Resource<KubernetesObject>,
  component: Component['component'],
): Promise<readonly Leftover[]> {
  const labelSelector = `app.kubernetes.io/managed-by=${MANAGER},app.kubernetes.io/component=${component}`;
  const namespace = resource.scope === 'Namespaced' ? deps.config.operandNamespace : undefined;
  const { items } = await live.list(resource, { labelSelector, namespace });
  return items.map((object) => ({ resource, object }));
}

/** A cleanup that waits without limit has exceeded its time in every further run. */
function hasTimedOut({ object }: CleanupRun): boolean {
  return object.status?.conditions?.some(({ reason }) => reason === 'CleanupTimedOut') ?? false;
}

/** removeAll deletes everything without waiting. It returns how many objects it found, and how many of them still exist. */
async function removeAll(
  run: CleanupRun,
  removal: Removal,
  cleanup: OperandCleanup,
): Promise<{ readonly found: number; readonly left: number }> {
  const names: string[] = [];
  let left = 0;
  for (const tier of tiersOf(run, removal, cleanup)) {
    for (const { resource, object } of await tier.find()) {
      names.push(`${resource.kind} ${object.metadata?.name}`);
      const options = { labels: MANAGED_BY, uid: object.metadata?.uid };
      const { outcome } = await removal.remove(resource, keyOf(object), options);
      if (outcome === 'terminating') left += 1;
    }
  }
  if (names.length === 0) return { found: 0, left };
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  run.event(
    'Warning',
    'CleanupTimeout',
    `the cleanup took longer than spec.deletion.timeoutSeconds of the ZeroTrustWorkloadIdentityManager; deleted without waiting: ${names.slice(0, MAX_NAMED).join(', ')}${more}`,
  );
  return { found: names.length, left };
}
