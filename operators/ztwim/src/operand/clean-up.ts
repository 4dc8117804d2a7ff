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
import type { ReportTarget } from './report.ts';

/** CleanupRun is the part of a cleanup's context that the cleanup of an operand needs. */
export interface CleanupRun extends ReportTarget {
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
  const { clock, deletion, live, event } = context;
  // The kinds are known only when it runs. Undeclared ones are still rejected, by the permissions.
  const removal = context as unknown as Removal;
  if (deletion.mode === 'orphan') {
    await cleanUpTiers(context, tiersOf(context, removal, cleanup), stepOf(context, removal));
    event('Normal', 'CleanupCompleted', 'the objects of this operand stay');
    return undefined;
  }
  event('Normal', 'CleanupStarted', 'the objects of this operand are deleted');
  const parent = await live.find(ZeroTrustWorkloadIdentityManager, { name: SINGLETON });
  const { timeoutSeconds = DEFAULT_TIMEOUT_S, forceFinalizerRemoval = true } = parent?.spec.deletion ?? {};
  const deadline = deletion.at + timeoutSeconds * 1_000;
  const isOverdue = clock.now() >= deadline;
  if (isOverdue && forceFinalizerRemoval) {
    await removeAll(context, removal, cleanup);
    return undefined;
  }
  const wait = (reason: string, message: string): ReconcileResult => {
    reportWait(context, isOverdue ? 'CleanupTimedOut' : reason, message);
    return { requeueAfterMs: Math.max(1, isOverdue ? POLL_MS : Math.min(POLL_MS, deadline - clock.now())) };
  };

  const consumers = await consumersBefore(cleanup.kind, { live, clock, deletion, parent });
  if (consumers.length > 0) return wait('WaitingForConsumers', `${consumers.join(', ')} must be deleted first`);
  const other = await cleanup.waitsFor?.(context);
  if (other) return wait(other.reason, other.message);

  const progress = await cleanUpTiers(context, tiersOf(context, removal, cleanup), stepOf(context, removal));
  if (progress.isDone) {
    event('Normal', 'CleanupCompleted', 'objects left: 0');
    return undefined;
  }
  const names = progress.waiting.slice(0, MAX_NAMED).map(({ kind, key }) => `${kind} ${key.name}`);
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
      const found: Leftover[] = [];
      for (const resource of kinds) {
        if (removal.isServed(resource)) found.push(...(await find(run, resource, component)));
      }
      return found;
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

async function removeAll(run: CleanupRun, removal: Removal, cleanup: OperandCleanup): Promise<void> {
  const left: string[] = [];
  for (const tier of tiersOf(run, removal, cleanup)) {
    for (const { resource, object } of await tier.find()) {
      left.push(`${resource.kind} ${object.metadata?.name}`);
      await removal.remove(resource, keyOf(object), { labels: MANAGED_BY, uid: object.metadata?.uid });
    }
  }
  if (left.length === 0) return;
  const more = left.length > MAX_NAMED ? ` and ${left.length - MAX_NAMED} more` : '';
  run.event(
    'Warning',
    'CleanupTimeout',
    `the cleanup took longer than spec.deletion.timeoutSeconds of the ZeroTrustWorkloadIdentityManager; deleted without waiting: ${left.slice(0, MAX_NAMED).join(', ')}${more}`,
  );
}

function reportWait({ status }: ReportTarget, reason: string, message: string): void {
  status.condition('Deleting', true, reason, message);
  status.condition('Ready', false, 'Deleting', message);
}
