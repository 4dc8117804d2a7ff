import type { FieldProblem } from '@bowline/machinery';
import { SINGLETON } from '../api/names.ts';
import type { OperandKind } from '../api/operand-kinds.ts';
import { type OperandOf, type SharedObjects, withOperand } from '../operand/shared-objects.ts';
import { copyIn } from '../resolve/copies.ts';
import { describeConflict } from '../resolve/hold.ts';
import { resolve } from '../resolve/resolve.ts';
import { type Change, invalid, type Review, unusable } from './review.ts';
import { describeChange, forbiddenChanges, newConflicts, unusableValues, valueChanges } from './value-changes.ts';

/**
 * reviewOperand reviews the shared values of an operand. A conflict that existed before does not count, so that other
 * fields can still be changed.
 */
export function reviewOperand<K extends OperandKind>(
  kind: K,
  { before, after }: Change<OperandOf<K>>,
  objects: SharedObjects,
): Review {
  const { parent } = objects;
  const old = resolve(parent, withOperand(objects, kind, before).operands);
  const result = resolve(parent, withOperand(objects, kind, after).operands);
  // A conflict between two other objects is not the fault of this one, which may have given up its value.
  const conflicts = newConflicts(old, result).filter((each) => each.kind === kind || each.wantedBy === kind);
  const problems: FieldProblem[] = [
    ...conflicts.map((conflict) =>
      invalid(`spec.${conflict.field}`, copyIn(after, conflict.field) ?? '', describeConflict(conflict)),
    ),
    ...unusableValues(old, result).map(({ field, message }) => unusable(`spec.${field}`, message)),
  ];
  if (!parent) {
    const warning = `there is no ZeroTrustWorkloadIdentityManager "${SINGLETON}"; nothing is deployed or changed until it is created`;
    return { problems, warnings: [warning] };
  }
  if (parent.spec.identityChangePolicy === 'Forbid') problems.push(...forbiddenChanges(old, result, objects.operands));
  return { problems, warnings: valueChanges(old, result).map(describeChange) };
}
