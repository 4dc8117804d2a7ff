import type { KubernetesObject } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/machinery';
import { isConflict } from '@bowline/runtime/client';
import { setOwner } from '@bowline/runtime/writing';
import { GROUP, SINGLETON } from '../api/names.ts';
import { OPERAND_KINDS, type OperandKind } from '../api/operand-kinds.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { OPERAND_RESOURCES } from '../operand/operand-kind.ts';
import type { Singletons } from '../operand/singletons.ts';
import { writeInheritance } from '../operand/write-inheritance.ts';
import { pendingInheritance } from '../resolve/inheritance.ts';
import { resolve } from '../resolve/resolve.ts';
import type { ConfigContext } from './controller.ts';

/**
 * linkOperands gives every operand its owner and, if it acts, the values that it inherits. With `onlyRepair`, it only
 * repairs references to a deleted owner, because the garbage collector would delete the operand.
 */
export async function linkOperands(
  context: ConfigContext,
  { operands, shared }: Singletons,
  { onlyRepair }: { readonly onlyRepair: boolean },
): Promise<void> {
  for (const kind of OPERAND_KINDS) {
    const operand = operands[kind];
    if (!operand || operand.metadata?.deletionTimestamp !== undefined) continue;
    if (onlyRepair && !hasOwner(operand)) continue;
    await own(context, kind, operand);
    if (onlyRepair) continue;
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
  const key = { name: SINGLETON };
  for (let attempt = 1; ; attempt++) {
    const [parent, operand] = await Promise.all([
      live.find(ZeroTrustWorkloadIdentityManager, key),
      live.find(OPERAND_RESOURCES[kind], key),
    ]);
    if (!parent || !operand) return;
    const shared = resolve(parent, { ...operands, [kind]: operand });
    const inheritance = pendingInheritance(shared, kind, operand);
    if (!inheritance) return;
    try {
      await writeInheritance(live, kind, operand, inheritance);
    } catch (error) {
      if (!isConflict(error) || attempt >= MAX_ATTEMPTS) throw error;
      continue;
    }
    event('Normal', 'ConfigPropagated', `${kind} has the values of this object`);
    return;
  }
}

function hasOwner({ metadata }: KubernetesObject): boolean {
  const { kind } = ZeroTrustWorkloadIdentityManager;
  return (metadata?.ownerReferences ?? []).some(
    (each) => each.kind === kind && each.apiVersion.startsWith(`${GROUP}/`),
  );
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
