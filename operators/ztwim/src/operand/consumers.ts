import type { Clock } from '@bowline/machinery';
import type { LiveClient } from '@bowline/runtime/controller';
import { type Deletion, deletionOf } from '@bowline/runtime/writing';
import { SINGLETON } from '../api/names.ts';
import type { OperandKind } from '../api/operand-kinds.ts';
import type { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { DELETION_ORDER, OPERAND_FINALIZERS, OPERAND_RESOURCES } from './operand-kind.ts';

/**
 * A client that deletes several operands sends one request after the other, in any order. A deletionTimestamp has full
 * seconds, so that at least half of this time has passed.
 */
const SETTLE_MS = 2_000;

/** ConsumersQuery is what it depends on which consumers an operand waits for. */
export interface ConsumersQuery {
  readonly live: LiveClient;
  readonly clock: Clock;
  /** The deletion of the operand. */
  readonly deletion: Deletion;
  readonly parent: ZeroTrustWorkloadIdentityManager | undefined;
}

/**
 * consumersBefore returns the operands that must be cleaned up before one of a kind: its consumers that are being deleted
 * too. They are read from the API server: a cache may show the deletions in another order. A consumer whose cleanup has
 * ended blocks no other operand, whatever keeps its object.
 */
export async function consumersBefore(kind: OperandKind, query: ConsumersQuery): Promise<readonly OperandKind[]> {
  const earlier = DELETION_ORDER.slice(0, DELETION_ORDER.indexOf(kind));
  const awaited = await Promise.all(
    earlier.map(async (consumer) => {
      const object = await query.live.find(OPERAND_RESOURCES[consumer], { name: SINGLETON });
      if (!object) return false;
      const { deletionTimestamp, finalizers = [] } = object.metadata ?? {};
      return deletionTimestamp === undefined ? mayBeDeleted(query) : finalizers.includes(OPERAND_FINALIZERS[consumer]);
    }),
  );
  return earlier.filter((_, index) => awaited[index]);
}

/** With its parent every operand is deleted. Without, it may be deleted by the same client a moment later. */
function mayBeDeleted({ clock, deletion, parent }: ConsumersQuery): boolean {
  const ofParent = parent && deletionOf(parent);
  return (ofParent && ofParent.mode !== 'orphan') || clock.now() < deletion.at + SETTLE_MS;
}
