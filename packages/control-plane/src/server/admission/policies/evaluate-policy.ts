import type { Activation, StepBudget } from '@bowline/machinery/cel';
import { meetsConditions } from '../matching/conditions.ts';
import {
  activationFor,
  type EvaluatedRequest,
  evaluationFailure,
  isOutOfBudget,
  OUT_OF_BUDGET,
} from '../matching/evaluation.ts';
import type { CompiledAnnotation, CompiledPolicy, CompiledValidation } from './compiled-policy.ts';

/** Denial is a failed validation, or an expression without a result. */
export interface Denial {
  readonly message: string;
  readonly reason: string | undefined;
  /** The position of the validation in the policy. */
  readonly index: number;
}

/** Evaluation is the result of a policy for one request and one parameter object. */
export interface Evaluation {
  readonly denials: readonly Denial[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
  /** Problems of audit annotations, which deny a request regardless of the actions of the binding. */
  readonly annotationProblems: readonly string[];
}

/** MAX_STEPS limits the evaluation steps of all validations, and separately of all audit annotations. */
const MAX_STEPS = 10_000_000;
const MAX_MESSAGE_BYTES = 5 * 1024;
const MAX_ANNOTATION_BYTES = 10 * 1024;

const NOTHING: Evaluation = { denials: [], annotations: [], annotationProblems: [] };

/** evaluatePolicy evaluates the expressions of a policy. Expressions without a result deny unless the policy fails open. */
export function evaluatePolicy(policy: CompiledPolicy, failsOpen: boolean, evaluated: EvaluatedRequest): Evaluation {
  if (policy.conditions.length > 0) {
    // Match conditions do not see the namespace.
    const early = activationFor(policy.environment, { ...evaluated, namespaceObject: null });
    const conditions = meetsConditions(policy.conditions, early, failsOpen);
    if ('problem' in conditions) return failed(conditions.problem);
    if (!conditions.matches) return NOTHING;
  }
  const activation = activationFor(policy.environment, evaluated);
  const budget = { left: MAX_STEPS };
  const denials: Denial[] = [];
  for (const [index, validation] of policy.validations.entries()) {
    const message = denialOf(validation, activation, budget, failsOpen);
    if (isOutOfBudget(budget)) return failsOpen ? NOTHING : failed(OUT_OF_BUDGET);
    if (message !== undefined) denials.push({ ...message, index });
  }
  return { denials, ...annotate(policy.annotations, activation, failsOpen) };
}

function failed(message: string): Evaluation {
  return { ...NOTHING, denials: [{ message, reason: undefined, index: 0 }] };
}

function denialOf(
  { expression, messageExpression, message, reason = 'Invalid' }: CompiledValidation,
  activation: Activation,
  budget: StepBudget,
  failsOpen: boolean,
): Omit<Denial, 'index'> | undefined {
  try {
    if (expression instanceof Error) throw expression;
    if (activation.evaluate(expression, budget) === true) return undefined;
  } catch (error) {
    return failsOpen ? undefined : { message: evaluationFailure(expression, error), reason: undefined };
  }
  return { message: evaluatedMessage(messageExpression, activation, budget) || message, reason };
}

/** evaluatedMessage returns the message of a message expression; empty if it cannot be used. */
function evaluatedMessage(
  expression: CompiledValidation['messageExpression'],
  activation: Activation,
  budget: StepBudget,
): string {
  if (!expression || expression instanceof Error) return '';
  try {
    const result = activation.evaluate(expression, budget);
    const message = typeof result === 'string' ? result.trim() : '';
    return Buffer.byteLength(message) > MAX_MESSAGE_BYTES || message.includes('\n') ? '' : message;
  } catch {
    // The request is denied anyway; only the message is missing.
    return '';
  }
}

function annotate(
  annotations: readonly CompiledAnnotation[],
  activation: Activation,
  failsOpen: boolean,
): Pick<Evaluation, 'annotations' | 'annotationProblems'> {
  const budget = { left: MAX_STEPS };
  const found: { key: string; value: string }[] = [];
  const problems: string[] = [];
  for (const { key, expression } of annotations) {
    try {
      if (expression instanceof Error) throw expression;
      const result = activation.evaluate(expression, budget);
      const value = typeof result === 'string' ? result.trim() : '';
      if (value !== '') found.push({ key, value: shortened(value) });
    } catch (error) {
      problems.push(evaluationFailure(expression, error));
    }
  }
  return { annotations: found, annotationProblems: failsOpen ? [] : problems };
}

function shortened(value: string): string {
  return Buffer.byteLength(value) > MAX_ANNOTATION_BYTES
    ? Buffer.from(value).subarray(0, MAX_ANNOTATION_BYTES).toString('utf8')
    : value;
}
