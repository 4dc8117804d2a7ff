import type { Config } from '../config.ts';
import type { Acting } from '../operand/acting.ts';
import type { OperandCondition } from '../operand/condition.ts';
import { jwtIssuerProblem, namespaceProblem, type Problem, validity } from '../operand/validity.ts';

/** oidcValidity returns whether the objects of a SpireOIDCDiscoveryProvider can be rendered. */
export function oidcValidity(
  { parent, values }: Acting,
  config: Config,
  secretProblem?: Problem | undefined,
): OperandCondition {
  return validity(namespaceProblem(parent, config), jwtIssuerProblem(values.jwtIssuer), secretProblem);
}
