import { keyOf } from '@bowline/kubernetes';
import type { ReconcileResult } from '@bowline/runtime';
import { type CleanupTier, cleanUpTiers, createWriter, type Leftover, release } from '@bowline/runtime/writing';
import { FINALIZERS, SINGLETON } from '../api/names.ts';
import type { OperandKind } from '../api/operand-kinds.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { DELETION_ORDER, OPERAND_FINALIZERS, OPERAND_RESOURCES } from '../operand/operand-kind.ts';
import type { ConfigContext } from './controller.ts';
import { findStrayWorkload } from './stray-workloads.ts';

/** How much longer than its own limit an operand may take: then its controller does not act. */
const MARGIN_MS = 5_000;

type CleanupContext = ConfigContext & { readonly deletion: Parameters<typeof cleanUpTiers>[2]['deletion'] };

/**
 * cleanUp deletes the operands, consumers first. While the finalizer blocks this object, the garbage collector does not
 * delete them in the background, so the controller must.
 */
export async function cleanUp(context: CleanupContext): Promise<ReconcileResult> {
  const { object, live, clock, fieldManager, signal, deletion, status, event, deps } = context;
  const { timeoutSeconds, forceFinalizerRemoval } = object.spec.deletion;
  const owner = { resource: ZeroTrustWorkloadIdentityManager, object };
  const { remove } = createWriter({ client: live, fieldManager, signal });
  event('Normal', 'CleanupStarted', 'the operands are deleted in order, consumers first');
  const progress = await cleanUpTiers(context, tiersOf(context, forceFinalizerRemoval), {
    deletion,
    timeoutMs: timeoutSeconds * 1_000 + MARGIN_MS,
    remove: ({ resource, object: operand }, options) =>
      remove(resource, keyOf(operand), { ...options, uid: operand.metadata?.uid, isOurs: () => true }),
    release: ({ resource, object: operand }) => release(context, resource, operand, { owner }),
  });
  for (const { kind, finalizer } of progress.forced) {
    event('Warning', 'FinalizerForceRemoved', `removed ${finalizer} from the ${kind}, because its cleanup did not end`);
    deps.metrics.forced(finalizer);
    // The kinds of the tiers with a finalizer are operands.
    deps.metrics.operandReady(kind as OperandKind, false);
  }
  if (progress.isDone) {
    event('Normal', 'CleanupCompleted', deletion.mode === 'orphan' ? 'the operands stay' : 'operands left: 0');
    deps.metrics.cleanedUp(FINALIZERS.config, clock.now() - deletion.at);
    deps.metrics.setConflicts([]);
    deps.metrics.setMigrationPhase(undefined);
    return undefined;
  }
  const waiting = progress.waiting.map(
    ({ kind, finalizers }) => `${kind} (finalizers: ${finalizers.join(', ') || 'none'})`,
  );
  const isOverdue = progress.waiting.some(({ isOverdue: late }) => late);
  const message = `waiting for ${waiting.join(', ')}`;
  const wasOverdue = object.status?.conditions?.some(({ reason }) => reason === 'CleanupTimedOut');
  if (isOverdue && !wasOverdue) deps.metrics.timedOut(FINALIZERS.config);
  status.condition('Deleting', true, isOverdue ? 'CleanupTimedOut' : 'WaitingForOperands', message);
  status.condition('Ready', false, 'Deleting', message);
  return { requeueAfterMs: progress.requeueAfterMs };
}

function tiersOf(context: CleanupContext, mayForce: boolean): readonly CleanupTier[] {
  const isOrphaning = context.deletion.mode === 'orphan';
  const ordered = DELETION_ORDER.flatMap((kind): readonly CleanupTier[] => [
    {
      name: kind,
      // An operand without our finalizer waits for someone else, and blocks none of the others.
      find: async () => (await findOwned(context, kind)).filter((leftover) => !isReleased(leftover, kind)),
      ...(mayForce ? { forcedFinalizer: OPERAND_FINALIZERS[kind] } : {}),
    },
    {
      name: `workload of ${kind}`,
      // No cleanup deleted it if the finalizer of the operand was removed by force or by hand.
      find: async () => {
        const stray = isOrphaning ? undefined : await findStrayWorkload(context, kind);
        return stray ? [stray] : [];
      },
    },
  ]);
  const last: CleanupTier = {
    name: 'operands',
    find: async () => (await Promise.all(DELETION_ORDER.map((kind) => findOwned(context, kind)))).flat(),
  };
  return [...ordered, last];
}

function isReleased({ object }: Leftover, kind: OperandKind): boolean {
  const { deletionTimestamp, finalizers = [] } = object.metadata ?? {};
  return deletionTimestamp !== undefined && !finalizers.includes(OPERAND_FINALIZERS[kind]);
}

/**
 * findOwned returns an operand unless it stays: one that does not name this object as its owner has another controller, or
 * was orphaned while no operator was running.
 */
async function findOwned({ live, object: parent }: CleanupContext, kind: OperandKind): Promise<readonly Leftover[]> {
  const resource = OPERAND_RESOURCES[kind];
  const object = await live.find(resource, { name: SINGLETON });
  const { deletionTimestamp, ownerReferences = [] } = object?.metadata ?? {};
  const isOwned = ownerReferences.some(({ uid }) => uid === parent.metadata?.uid);
  return object && (isOwned || deletionTimestamp !== undefined) ? [{ resource, object }] : [];
}
