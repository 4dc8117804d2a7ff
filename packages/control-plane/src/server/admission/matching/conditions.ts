import type { Activation, CompiledExpression } from '@bowline/machinery/cel';
import { evaluationFailure, isOutOfBudget, OUT_OF_BUDGET } from './evaluation.ts';

/** MatchCondition is a CEL expression that must be true for a webhook or policy to apply. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** MAX_STEPS limits the evaluation steps of all conditions of one webhook or policy for one request. */
const MAX_STEPS = 2_500_000;

/** Conditions is the result of evaluating conditions. */
export type Conditions = { readonly matches: boolean } | { readonly problem: string };

/**
 * meetsConditions evaluates conditions for a request. One condition that is false decides, whatever the others return;
 * a condition that cannot be evaluated is handled according to the failure policy.
 */
export function meetsConditions(
  conditions: readonly (CompiledExpression | Error)[],
  activation: Activation,
  failsOpen: boolean,
): Conditions {
  const problems: string[] = [];
  const budget = { left: MAX_STEPS };
  for (const condition of conditions) {
    try {
      if (condition instanceof Error) throw condition;
      if (activation.evaluate(condition, budget) !== true) return { matches: false };
    } catch (error) {
      if (isOutOfBudget(budget)) return failsOpen ? { matches: false } : { problem: OUT_OF_BUDGET };
      problems.push(evaluationFailure(condition, error));
    }
  }
  if (problems.length === 0) return { matches: true };
  if (failsOpen) return { matches: false };
  return { problem: problems.length === 1 ? `${problems[0]}` : `[${problems.join(', ')}]` };
}
