import type { Config } from '../config.ts';
import type { Acting } from '../operand/acting.ts';
import type { OperandCondition } from '../operand/condition.ts';
import { namespaceProblem, validity } from '../operand/validity.ts';

/** csiValidity returns whether the objects of a SpiffeCSIDriver can be rendered. */
export function csiValidity({ parent }: Acting, config: Config): OperandCondition {
  return validity(namespaceProblem(parent, config));
}
