import type { MatchCondition } from '@bowline/kubernetes';
import { labelKeyProblems } from '@bowline/machinery';
import { admissionVariables, compileExpression } from '@bowline/machinery/cel';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Webhook } from './webhook.ts';

/** The API server's own limit. */
const MAX_CONDITIONS = 64;

/**
 * checkMatchConditions rejects webhooks with conditions that the API server would reject. It needs CEL, which is larger
 * than the rest of the runtime, so it runs only where webhooks are served, and this module is only imported on demand.
 */
export function checkMatchConditions(webhooks: readonly Pick<Webhook, 'name' | 'matchConditions'>[]): void {
  for (const { name, matchConditions } of webhooks) {
    const problem = matchConditionsProblem(matchConditions);
    if (problem !== undefined)
      throw new BowlineError('BOWLINE_WEBHOOK_INVALID', `cannot serve the webhook "${name}": ${problem}`);
  }
}

/** matchConditionsProblem returns why the API server would reject the conditions and how to fix it, or undefined. */
export function matchConditionsProblem(conditions: readonly MatchCondition[]): string | undefined {
  if (conditions.length > MAX_CONDITIONS)
    return `it has ${conditions.length} matchConditions, more than the allowed ${MAX_CONDITIONS}; combine some of them with &&`;
  const names = new Set<string>();
  for (const { name, expression } of conditions) {
    const problem = names.has(name) ? 'its name is used twice' : problemOf(name, expression);
    if (problem !== undefined) return `the matchCondition ${JSON.stringify(name)} cannot work: ${problem}`;
    names.add(name);
  }
  return undefined;
}

function problemOf(name: string, expression: string): string | undefined {
  const [nameProblem] = labelKeyProblems(name);
  if (nameProblem !== undefined) return `its ${nameProblem}`;
  if (expression.trim() === '') return 'its expression is empty';
  try {
    const { type } = compileExpression(expression, { variables: admissionVariables, hasBind: false });
    if (type === 'bool') return undefined;
    const hint = type === 'dyn' ? '; compare it, for example with == true' : '';
    return `${JSON.stringify(expression)} is of type ${type}, but must be a bool${hint}`;
  } catch (error) {
    if (error instanceof BowlineError) return error.message;
    throw error;
  }
}
