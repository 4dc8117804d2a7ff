import { ANNOTATIONS } from '../api/names.ts';
import { type OperandOf, type SharedObjects, withOperand } from '../operand/shared-objects.ts';
import { copyIn, inheritedAnnotation, inheritedValues } from '../resolve/copies.ts';
import { holdOf } from '../resolve/hold.ts';
import { inheritanceOf } from '../resolve/inheritance.ts';
import { resolve } from '../resolve/resolve.ts';
import { fieldsOf, type SharedField, type SharingKind } from '../resolve/shared-config.ts';

/**
 * inherit returns an operand with the values of the ZeroTrustWorkloadIdentityManager in its empty fields, and with the
 * annotation that names them. As in the controller, an operand that does not act inherits nothing. A value that was
 * inherited before is left to the controller: the cache may be older than what the controller wrote.
 */
export function inherit<K extends SharingKind>(kind: K, operand: OperandOf<K>, objects: SharedObjects): OperandOf<K> {
  const shared = resolve(objects.parent, withOperand(objects, kind, operand).operands);
  const inheritance = holdOf(shared, kind) ? undefined : inheritanceOf(shared, kind, operand);
  if (!inheritance) return operand;
  const known = inheritedValues(operand);
  const filled: { [F in SharedField]?: string } = {};
  const inherited: { [F in SharedField]?: string | undefined } = {};
  for (const field of fieldsOf(kind)) {
    const value = inheritance.spec[field];
    const copy = copyIn(operand, field);
    if (copy === undefined && value !== undefined) filled[field] = value;
    const result = copy ?? value;
    if (result === value || result === known[field]) inherited[field] = result;
  }
  const annotations = { ...operand.metadata?.annotations, [ANNOTATIONS.inherited]: inheritedAnnotation(inherited) };
  return { ...operand, metadata: { ...operand.metadata, annotations }, spec: { ...operand.spec, ...filled } };
}
