import { BowlineError } from '@bowline/machinery';
import { setOwner } from '@bowline/runtime/writing';
import { ANNOTATIONS, SINGLETON } from '../api/names.ts';
import { OPERAND_KINDS, type OperandKind } from '../api/operand-kinds.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { OPERAND_RESOURCES } from '../operand/operand-kind.ts';
import type { Singletons } from '../operand/singletons.ts';
import { holdOf } from '../resolve/hold.ts';
import { hasInherited, inheritanceOf } from '../resolve/inheritance.ts';
import type { ConfigContext } from './controller.ts';

/** linkOperands gives every operand its owner and, if it acts, the values that it inherits. */
export async function linkOperands(context: ConfigContext, { operands, shared }: Singletons): Promise<void> {
  for (const kind of OPERAND_KINDS) {
    const operand = operands[kind];
    if (!operand || operand.metadata?.deletionTimestamp !== undefined) continue;
    await own(context, kind, operand);
    if (holdOf(shared, kind)) continue;
    const inheritance = inheritanceOf(shared, kind, operand);
    if (!inheritance || hasInherited(operand, inheritance)) continue;
    const { uid } = operand.metadata ?? {};
    // The uid prevents that an operand that was just deleted is created again.
    const metadata = { name: SINGLETON, uid, annotations: { [ANNOTATIONS.inherited]: inheritance.annotation } };
    await context.live.patch(
      OPERAND_RESOURCES[kind],
      { name: SINGLETON },
      { type: 'apply', force: true, body: { metadata, spec: inheritance.spec } },
    );
    context.event('Normal', 'ConfigPropagated', `${kind} has the values of this object`);
  }
}

async function own(
  { live, object, fieldManager, signal, event }: ConfigContext,
  kind: OperandKind,
  operand: NonNullable<Singletons['operands'][OperandKind]>,
): Promise<void> {
  const owner = { resource: ZeroTrustWorkloadIdentityManager, object };
  try {
    await setOwner(live, OPERAND_RESOURCES[kind], operand, owner, { fieldManager, signal });
  } catch (error) {
    if (!(error instanceof BowlineError) || error.code !== 'BOWLINE_OWNER_CONFLICT') throw error;
    event('Warning', 'OwnerConflict', error.message);
  }
}
