import type { CelEnvironment, CompiledExpression } from '@bowline/machinery/cel';
import { NO_AUTHORIZER, policyEnvironment } from '../../registry/kinds/admissionregistration/policy-environment.ts';
import { compiled } from '../matching/evaluation.ts';
import type { Policy } from './policy.ts';

/** CompiledValidation is a validation of a policy. */
export interface CompiledValidation {
  readonly expression: CompiledExpression | Error;
  readonly messageExpression: CompiledExpression | Error | undefined;
  /** The message if there is no message expression, or if it has no result. */
  readonly message: string;
  readonly reason: string | undefined;
}

/** CompiledAnnotation is an audit annotation of a policy. */
export interface CompiledAnnotation {
  readonly key: string;
  readonly expression: CompiledExpression | Error;
}

/** CompiledPolicy holds the expressions of a policy. */
export interface CompiledPolicy {
  readonly environment: CelEnvironment;
  readonly conditions: readonly (CompiledExpression | Error)[];
  readonly validations: readonly CompiledValidation[];
  readonly annotations: readonly CompiledAnnotation[];
}

const known = new WeakMap<Policy, CompiledPolicy>();

/** compiledPolicy compiles the expressions of a policy once; the CEL engine must be loaded. */
export function compiledPolicy(policy: Policy): CompiledPolicy {
  const before = known.get(policy);
  if (before) return before;
  const made = compilePolicy(policy);
  known.set(policy, made);
  return made;
}

function compilePolicy({ spec }: Policy): CompiledPolicy {
  const { paramKind, matchConditions = [], variables = [], validations = [], auditAnnotations = [] } = spec;
  const environment = policyEnvironment({
    params: paramKind ? 'dyn' : undefined,
    hasDefinitions: variables.length > 0,
  });
  // Match conditions cannot use variables.
  const conditions = matchConditions.map(({ expression }) => compiled(() => environment.compile(expression)));
  for (const { name, expression } of variables) compiled(() => environment.define(name, expression));
  return {
    environment,
    conditions,
    validations: validations.map(({ expression, message = '', messageExpression, reason }) => ({
      expression: compiled(() => environment.compile(expression)),
      messageExpression: messageExpression
        ? compiled(() => environment.compile(messageExpression, NO_AUTHORIZER))
        : undefined,
      message: message.trim() || `failed expression: ${expression.trim()}`,
      reason,
    })),
    annotations: auditAnnotations.map(({ key, valueExpression }) => ({
      key,
      expression: compiled(() => environment.compile(valueExpression)),
    })),
  };
}
