import type { MatchCondition } from '@bowline/kubernetes';
import { labelKeyProblems } from '@bowline/machinery';
import { compileExpression, type VariableDeclaration } from '@bowline/machinery/cel';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Webhook } from './webhook.ts';

const TEXT = { type: 'string' } as const;
const named = (last: string) => ({ type: 'object', properties: { group: TEXT, version: TEXT, [last]: TEXT } }) as const;

/** What the API server evaluates conditions with: the objects as they come, and the request without them. */
const VARIABLES: Readonly<Record<string, VariableDeclaration>> = {
  object: 'dyn',
  oldObject: 'dyn',
  request: {
    type: 'object',
    properties: {
      kind: named('kind'),
      resource: named('resource'),
      subResource: TEXT,
      requestKind: named('kind'),
      requestResource: named('resource'),
      requestSubResource: TEXT,
      name: TEXT,
      namespace: TEXT,
      operation: TEXT,
      userInfo: {
        type: 'object',
        properties: {
          username: TEXT,
          uid: TEXT,
          groups: { type: 'array', items: TEXT },
          extra: { type: 'object', additionalProperties: { type: 'array', items: TEXT } },
        },
      },
      dryRun: { type: 'boolean' },
      // Of any type: each operation has options of its own.
      options: { 'x-kubernetes-int-or-string': true },
    },
  },
};

/** The API server's own limit. */
const MOST = 64;

/**
 * checkMatchConditions refuses webhooks with conditions that the API server would refuse. It needs CEL, which weighs more than the
 * rest of the runtime: it is done where webhooks are served, and this module is only ever imported on demand.
 */
export function checkMatchConditions(webhooks: readonly Pick<Webhook, 'name' | 'matchConditions'>[]): void {
  for (const { name, matchConditions } of webhooks) {
    const problem = matchConditionsProblem(matchConditions);
    if (problem !== undefined)
      throw new BowlineError('BOWLINE_WEBHOOK_INVALID', `cannot serve the webhook "${name}": ${problem}`);
  }
}

/** matchConditionsProblem is why the API server would refuse some conditions, and what to do; undefined when it would not. */
export function matchConditionsProblem(conditions: readonly MatchCondition[]): string | undefined {
  if (conditions.length > MOST)
    return `it has ${conditions.length} matchConditions, more than the ${MOST} that there may be; put some of them together with &&`;
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
  // Only the API server has the functions of an authorizer: it is left to it to check what uses one.
  if (/\bauthorizer\b/.test(expression)) return undefined;
  try {
    const { type } = compileExpression(expression, { variables: VARIABLES, hasBind: false });
    if (type === 'bool') return undefined;
    const hint = type === 'dyn' ? '; compare it, for instance with == true' : '';
    return `${JSON.stringify(expression)} is of type ${type}, and must be true or false${hint}`;
  } catch (error) {
    if (error instanceof BowlineError) return error.message;
    throw error;
  }
}
