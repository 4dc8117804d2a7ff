import { ANNOTATIONS } from '../api/names.ts';
import type { OperandKind } from '../api/operand-kinds.ts';
import { copyIn, inheritedAnnotation, type Operand } from './copies.ts';
import { fieldsOf, type SharedConfig, type SharedField, type SharedValues } from './shared-config.ts';

/** Inheritance is what an operand has after it has inherited: the values in its spec, and the annotation that names them. */
export interface Inheritance {
  readonly spec: SharedValues;
  readonly annotation: string;
}

/**
 * inheritanceOf returns the values that an operand inherits; undefined if it inherits none, or opted out. All of them are
 * returned, also those that it has already, because one apply owns them together.
 */
export function inheritanceOf(config: SharedConfig, kind: OperandKind, operand: Operand): Inheritance | undefined {
  if (operand.metadata?.annotations?.[ANNOTATIONS.inheritIntoSpec] === 'false') return undefined;
  const values: { [F in SharedField]?: string } = {};
  for (const field of fieldsOf(kind)) {
    const result = config.fields[field];
    if (result.state === 'resolved' && result.source === 'ZTWIM') values[field] = result.value;
  }
  return Object.keys(values).length === 0 ? undefined : { spec: values, annotation: inheritedAnnotation(values) };
}

/** hasInherited reports whether an operand already has the values and the annotation. */
export function hasInherited(operand: Operand, inheritance: Inheritance): boolean {
  const { metadata } = operand;
  if (metadata?.annotations?.[ANNOTATIONS.inherited] !== inheritance.annotation) return false;
  return Object.entries(inheritance.spec).every(([field, value]) => copyIn(operand, field as SharedField) === value);
}
