import { BowlineError } from '@bowline/machinery';
import { isConflict } from '@bowline/runtime/client';
import { setOwner } from '@bowline/runtime/writing';
import { ANNOTATIONS, SINGLETON } from '../api/names.ts';
import { OPERAND_KINDS, type OperandKind } from '../api/operand-kinds.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { OPERAND_RESOURCES } from '../operand/operand-kind.ts';
import type { Singletons } from '../operand/singletons.ts';
import { pendingInheritance } from '../resolve/inheritance.ts';
import { resolve } from '../resolve/resolve.ts';
import type { ConfigContext } from './controller.ts';

/** linkOperands gives every operand its owner and, if it acts, the values that it inherits. */
export async function linkOperands(context: ConfigContext, { operands, shared }: Singletons): Promise<void> {
  for (const kind of OPERAND_KINDS) {
    const operand = operands[kind];
    if (!operand || operand.metadata?.deletionTimestamp !== undefined) continue;
    await own(context, kind, operand);
    if (pendingInheritance(shared, kind, operand)) await propagate(context, kind, operands);
  }
}

/** How often an operand is read again because it was changed meanwhile. */
const MAX_ATTEMPTS = 5;

/**
 * propagate writes shared values into an operand. Both objects are read again: a forced apply would otherwise overwrite a
 * value that a user has set in the operand since the cached version, or bring back one that was removed.
 */
async function propagate(
  { live, event }: ConfigContext,
  kind: OperandKind,
  operands: Singletons['operands'],
): Promise<void> {
  const resource = OPERAND_RESOURCES[kind];
  const key = { name: SINGLETON };
  for (let attempt = 1; ; attempt++) {
    const [parent, operand] = await Promise.all([
      live.find(ZeroTrustWorkloadIdentityManager, key),
      live.find(resource, key),
    ]);
    if (!parent || !operand) return;
    const shared = resolve(parent, { ...operands, [kind]: operand });
    const inheritance = pendingInheritance(shared, kind, operand);
    if (!inheritance) return;
    // With its uid, an operand that is deleted meanwhile is not created again.
    const { uid, resourceVersion } = operand.metadata ?? {};
    const annotations = { [ANNOTATIONS.inherited]: inheritance.annotation };
    const body = { metadata: { ...key, uid, resourceVersion, annotations }, spec: inheritance.spec };
    try {
      await live.patch(resource, key, { type: 'apply', force: true, body });
    } catch (error) {
      if (!isConflict(error) || attempt >= MAX_ATTEMPTS) throw error;
      continue;
    }
    event('Normal', 'ConfigPropagated', `${kind} has the values of this object`);
    return;
  }
}

async function own(
  { live, object, fieldManager, signal, event }: ConfigContext,
  kind: OperandKind,
  operand: NonNullable<Singletons['operands'][OperandKind]>,
): Promise<void> {
  const owner = { resource: ZeroTrustWorkloadIdentityManager, object };
  try {
    const stored = await setOwner(live, OPERAND_RESOURCES[kind], operand, owner, { fieldManager, signal });
    const isOwner = ({ uid }: { readonly uid: string }): boolean => uid === object.metadata?.uid;
    if (stored?.metadata?.ownerReferences?.some(isOwner) && !operand.metadata?.ownerReferences?.some(isOwner)) {
      event('Normal', 'OwnerReferenceSet', `this object is the owner of ${kind}`);
    }
  } catch (error) {
    if (!(error instanceof BowlineError) || error.code !== 'BOWLINE_OWNER_CONFLICT') throw error;
    event('Warning', 'OwnerConflict', error.message);
  }
}
