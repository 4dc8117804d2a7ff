import { BowlineError } from '@bowline/machinery';
import type { Account, Expression, ExpressionAuthorizer, StepBudget } from '@bowline/machinery/cel';
import { serviceAccountGroups, serviceAccountName } from '../../authentication/service-account-name.ts';
import { ALL_AUTHENTICATED, type UserInfo } from '../../authentication/user-info.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { ApiResource } from '../../registry/api-resource.ts';
import type { AdmissionRequest } from '../admission.ts';
import { requestOf } from './admission-review.ts';
import type { MatchCondition, Webhook } from './webhook.ts';

/** The CEL engine is large, and few webhooks have conditions. */
const engine = (): Promise<typeof import('@bowline/machinery/cel')> => import('@bowline/machinery/cel');

type Compiled = Expression | Error;

const compiled = new WeakMap<MatchCondition, Compiled>();

/** MAX_STEPS limits the evaluation steps of all conditions of one webhook for one request. */
const MAX_STEPS = 2_500_000;
const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

/** Conditions is the result of evaluating the conditions of a webhook. */
export type Conditions = { readonly matches: boolean } | { readonly problem: string };

/**
 * meetsConditions evaluates the conditions of a webhook for a request. One condition that is false decides, whatever
 * the others return; a condition that cannot be evaluated is handled according to the webhook's failure policy.
 */
export async function meetsConditions(
  authorizer: Authorizer,
  webhook: Webhook,
  request: AdmissionRequest,
  resource: ApiResource,
): Promise<Conditions> {
  if (webhook.matchConditions.length === 0) return { matches: true };
  const { compileExpression } = await engine();
  const described = requestOf(request, resource, '');
  const { object, oldObject } = described;
  const values = { request: described, object, oldObject, authorizer: authorizerFor(authorizer, request) };
  const problems: string[] = [];
  const budget = { left: MAX_STEPS };
  for (const condition of webhook.matchConditions) {
    try {
      if (evaluate(compileExpression, condition, values, budget) !== true) return { matches: false };
    } catch (error) {
      if (budget.left <= 0) return webhook.failsOpen ? { matches: false } : { problem: OUT_OF_BUDGET };
      problems.push(`expression '${condition.expression}' resulted in error: ${reasonOf(error)}`);
    }
  }
  if (problems.length === 0) return { matches: true };
  if (webhook.failsOpen) return { matches: false };
  return { problem: problems.length === 1 ? `${problems[0]}` : `[${problems.join(', ')}]` };
}

/**
 * authorizerFor returns the authorizer of conditions: it checks the user of the request, unless the expression names a
 * ServiceAccount.
 */
function authorizerFor(authorizer: Authorizer, request: AdmissionRequest): ExpressionAuthorizer {
  const { user, resource, subresource, namespace, name } = request;
  return {
    authorize: (question, account) => authorizer.authorize(account ? userOf(account) : user, question),
    requestResource: { group: resource.group, resource: resource.resource, subresource, namespace, name },
  };
}

function userOf({ namespace, name }: Account): UserInfo {
  const groups = [...serviceAccountGroups(namespace), ALL_AUTHENTICATED];
  return { username: serviceAccountName(namespace, name), groups };
}

function evaluate(
  compile: typeof import('@bowline/machinery/cel')['compileExpression'],
  condition: MatchCondition,
  values: Readonly<Record<string, unknown>>,
  budget: StepBudget,
): unknown {
  let expression = compiled.get(condition);
  if (!expression) {
    try {
      // The types were checked when the condition was written.
      const variables = { request: 'dyn', object: 'dyn', oldObject: 'dyn', authorizer: 'authorizer' };
      expression = compile(condition.expression, { variables, hasBind: false });
    } catch (error) {
      expression = error as Error;
    }
    compiled.set(condition, expression);
  }
  if (expression instanceof Error) throw expression;
  return expression.evaluate(values, budget);
}

/** reasonOf returns the reason of an error, without the prefix about the expression that our CEL engine adds. */
function reasonOf(error: unknown): string {
  if (error instanceof BowlineError && error.code === 'BOWLINE_CEL_BUDGET')
    return 'operation cancelled: actual cost limit exceeded';
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message : message;
}
