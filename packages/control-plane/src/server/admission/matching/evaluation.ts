import { BowlineError } from '@bowline/machinery';
import type {
  Account,
  Activation,
  CelEnvironment,
  CompiledExpression,
  ExpressionAuthorizer,
  StepBudget,
} from '@bowline/machinery/cel';
import { serviceAccountGroups, serviceAccountName } from '../../authentication/service-account-name.ts';
import { ALL_AUTHENTICATED, type UserInfo } from '../../authentication/user-info.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { ApiResource } from '../../registry/api-resource.ts';
import type { AdmissionRequest } from '../admission.ts';
import { requestOf } from './described-request.ts';

/** OUT_OF_BUDGET is the message for expressions that together take too many steps. */
export const OUT_OF_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run';

/** EvaluatedRequest is a request that expressions are evaluated for. */
export interface EvaluatedRequest {
  readonly request: AdmissionRequest;
  /** The resource in the version that a rule names. */
  readonly resource: ApiResource;
  readonly authorizer: Authorizer;
  /** The object that parameterizes a policy; null if there is none. */
  readonly params?: unknown;
  /** The namespace of the object; null for cluster-scoped objects. */
  readonly namespaceObject?: unknown;
}

/** activationFor sets the variables of expressions for a request. */
export function activationFor(environment: CelEnvironment, evaluated: EvaluatedRequest): Activation {
  const { request, resource, authorizer, params = null, namespaceObject = null } = evaluated;
  const described = requestOf(request, resource, '');
  const { object, oldObject } = described;
  return environment.activate({
    request: described,
    object,
    oldObject,
    params,
    namespaceObject,
    authorizer: authorizerFor(authorizer, request),
  });
}

/**
 * authorizerFor returns the authorizer of expressions: it checks the user of the request, unless the expression names a
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

/** compiled compiles a stored expression, which was valid when it was written. */
export function compiled(compile: () => CompiledExpression): CompiledExpression | Error {
  try {
    return compile();
  } catch (error) {
    return error as Error;
  }
}

/** isOutOfBudget reports whether expressions together took too many steps. */
export function isOutOfBudget({ left }: StepBudget): boolean {
  return left <= 0;
}

/** evaluationFailure describes why an expression has no result. */
export function evaluationFailure(expression: CompiledExpression | Error, error: unknown): string {
  if (expression instanceof Error) return `compilation error: ${reasonOf(error)}`;
  return `expression '${expression.source}' resulted in error: ${reasonOf(error)}`;
}

/** reasonOf returns the reason of an error, without the prefix about the expression that our CEL engine adds. */
function reasonOf(error: unknown): string {
  if (error instanceof BowlineError && error.code === 'BOWLINE_CEL_BUDGET')
    return 'operation cancelled: actual cost limit exceeded';
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message : message;
}
