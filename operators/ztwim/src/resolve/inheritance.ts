import { ANNOTATIONS } from '../api/names.ts';
import type { OperandKind } from '../api/operand-kinds.ts';
import { copyIn, inheritedAnnotation, inheritedValues, type Operand } from './copies.ts';
import { holdOf } from './hold.ts';
import { fieldsOf, type SharedConfig, type SharedField, type SharedValues } from './shared-config.ts';

/** Inheritance is what an operand has after it has inherited: the values in its spec, and the annotation that names them. */
export interface Inheritance {
  readonly spec: SharedValues;
  readonly annotation: string;
}

/**
 * inheritanceOf returns the values that an operand inherits; undefined if it inherits none, or opted out. All of them are
 * returned, also those that it has already, because one apply owns them together. An inherited value that the
 * ZeroTrustWorkloadIdentityManager no longer has stays inherited: the operand keeps it, and follows the next value.
 */
export function inheritanceOf(config: SharedConfig, kind: OperandKind, operand: Operand): Inheritance | undefined {
  if (operand.metadata?.annotations?.[ANNOTATIONS.inheritIntoSpec] === 'false') return undefined;
  const known = inheritedValues(operand);
  const values: { [F in SharedField]?: string } = {};
  let isCentral = false;
  for (const field of fieldsOf(kind)) {
    const result = config.fields[field];
    const copy = copyIn(operand, field);
    if (result.state === 'resolved' && result.source === 'ZTWIM') {
      values[field] = result.value;
      isCentral = true;
    } else if (copy !== undefined && copy === known[field]) {
      values[field] = copy;
    }
  }
  return isCentral ? { spec: values, annotation: inheritedAnnotation(values) } : undefined;
}

/**
 * pendingInheritance returns the values that have to be written into an operand; undefined if it has them, inherits none,
 * or does not act.
 */
export function pendingInheritance(config: SharedConfig, kind: OperandKind, operand: Operand): Inheritance | undefined {
  if (operand.metadata?.deletionTimestamp !== undefined || holdOf(config, kind)) return undefined;
  const inheritance = inheritanceOf(config, kind, operand);
  return inheritance && !hasInherited(operand, inheritance) ? inheritance : undefined;
}

/** hasInherited reports whether an operand already has the values and the annotation. */
function hasInherited(operand: Operand, inheritance: Inheritance): boolean {
  const { metadata } = operand;
  if (metadata?.annotations?.[ANNOTATIONS.inherited] !== inheritance.annotation) return false;
  return Object.entries(inheritance.spec).every(([field, value]) => copyIn(operand, field as SharedField) === value);
}
