import type { Config } from '../config.ts';
import type { Acting } from '../operand/acting.ts';
import type { OperandCondition } from '../operand/condition.ts';
import { bundleProblem, namespaceProblem, validity } from '../operand/validity.ts';

/** agentValidity returns whether the objects of a SpireAgent can be rendered. */
export function agentValidity({ parent, values }: Acting, config: Config): OperandCondition {
  return validity(namespaceProblem(parent, config), bundleProblem(values.bundleConfigMap));
}
