import type { Authorizer } from '../../authorization/authorizer.ts';
import type { ApiResource } from '../../registry/api-resource.ts';
import { loadCelEngine } from '../../registry/kinds/admissionregistration/cel-engine.ts';
import type { Registry } from '../../registry/registry.ts';
import { notFound, StatusError } from '../../status/api-status.ts';
import type { Storage } from '../../storage/storage.ts';
import { keyIn, objectOf } from '../../storage/stored.ts';
import { type AdmissionPlugin, type AdmissionRequest, refuse } from '../admission.ts';
import { withProjectedObjects } from '../matching/described-request.ts';
import { compiledPolicy } from './compiled-policy.ts';
import { type Denial, type Evaluation, evaluatePolicy } from './evaluate-policy.ts';
import { isExemptFromPolicies, matchingResource } from './match-policy.ts';
import { PolicyProblem, paramResource, paramsFor } from './params.ts';
import type { Binding, Policy, PolicyIndex } from './policy.ts';

/** PolicyParts holds the dependencies of enforcing policies. */
export interface PolicyParts {
  readonly index: PolicyIndex;
  readonly storage: Storage;
  readonly registry: Registry;
  readonly authorizer: Authorizer;
}

/** Matching is a policy that applies to a request, with the resource in the version that a rule names. */
interface Matching {
  readonly policy: Policy;
  readonly resource: ApiResource;
}

/** Refusal is a denial with the policy, and the binding unless the policy itself is the problem. */
interface Refusal extends Pick<Denial, 'message' | 'reason'> {
  readonly policy: Policy;
  readonly binding: Binding | undefined;
}

/**
 * validatingPolicies enforces the stored ValidatingAdmissionPolicies. All policies are evaluated, so that warnings and
 * audit annotations are complete; the first denial is reported.
 */
export function validatingPolicies(parts: PolicyParts): AdmissionPlugin {
  return {
    name: 'ValidatingAdmissionPolicy',
    validate(given) {
      const policies = parts.index.about(given.resource);
      if (policies.length === 0 || isExemptFromPolicies(given)) return;
      const request = withProjectedObjects(given);
      const matching = policies.flatMap((policy): Matching[] => {
        const resource = matchingResource(parts, policy.match, request);
        return resource ? [{ policy, resource }] : [];
      });
      if (matching.length === 0) return;
      return enforce(parts, matching, request);
    },
  };
}

async function enforce(parts: PolicyParts, matching: readonly Matching[], request: AdmissionRequest): Promise<void> {
  await loadCelEngine();
  const [refusal] = matching.flatMap((each) => refusalsBy(parts, each, request));
  if (!refusal) return;
  const { policy, binding, message, reason = 'Invalid' } = refusal;
  const by = binding ? ` with binding '${binding.name}'` : '';
  const text = `ValidatingAdmissionPolicy '${policy.name}'${by} denied request: ${message}`;
  const { message: whole, details } = refuse(request, text, [{ message: text }]);
  throw new StatusError(CODES[reason] ?? 422, reason, whole, details);
}

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

/** refusalsBy evaluates a policy with all of its bindings. */
function refusalsBy(parts: PolicyParts, { policy, resource }: Matching, request: AdmissionRequest): Refusal[] {
  const refusals: Refusal[] = [];
  const annotations = new Map<string, Set<string>>();
  const refuseFor = (binding: Binding | undefined, message: string, reason?: string): void => {
    refusals.push({ policy, binding, message, reason });
  };
  const configure = <T>(binding: Binding | undefined, work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof PolicyProblem)) throw error;
      if (!policy.failsOpen)
        refuseFor(binding, `failed to configure ${binding ? 'binding' : 'policy'}: ${error.message}`);
      return undefined;
    }
  };
  const paramKind = configure(undefined, () => ({ resource: paramResource(parts.registry, policy.spec.paramKind) }));
  if (!paramKind) return refusals;
  const { authorizer } = parts;
  const namespaceObject = namespaceOf(parts.storage, request);
  for (const binding of policy.bindings) {
    if (binding.match && !matchingResource(parts, binding.match, request)) continue;
    const params = configure(binding, () =>
      paramsFor(parts.storage, paramKind.resource, binding.paramRef, request.namespace),
    );
    if (!params || params.length === 0) continue;
    for (const param of params) {
      const evaluated = { request, resource, authorizer, params: param, namespaceObject };
      const evaluation = evaluatePolicy(compiledPolicy(policy), policy.failsOpen, evaluated);
      for (const { message, reason } of act(policy, binding, evaluation, request)) refuseFor(binding, message, reason);
      for (const problem of evaluation.annotationProblems) refuseFor(binding, problem);
      for (const { key, value } of evaluation.annotations)
        annotations.set(key, (annotations.get(key) ?? new Set()).add(value));
    }
  }
  for (const [key, values] of annotations) request.annotate?.(`${policy.name}/${key}`, [...values].join(', '));
  return refusals;
}

/** act carries out the actions of a binding for the denials, and returns those that deny the request. */
function act(
  policy: Policy,
  { name, actions }: Binding,
  { denials }: Evaluation,
  request: AdmissionRequest,
): readonly Denial[] {
  for (const { message, index } of denials) {
    if (actions.includes('Warn')) {
      const warning = `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${name}': ${message}`;
      request.warnings.push(warning);
    }
    if (actions.includes('Audit')) {
      const failure = {
        message,
        policy: policy.name,
        binding: name,
        expressionIndex: index,
        validationActions: actions,
      };
      request.annotate?.('validation.policy.admission.k8s.io/validation_failure', JSON.stringify([failure]));
    }
  }
  return actions.includes('Deny') ? denials : [];
}

/** namespaceOf returns the namespace of the object; null for cluster-scoped objects, also for namespaces themselves. */
function namespaceOf(storage: Storage, { resource, namespace }: AdmissionRequest): unknown {
  if (namespace === '' || (resource.group === '' && resource.resource === 'namespaces')) return null;
  const stored = storage.get('namespaces', keyIn('', namespace));
  if (!stored) throw notFound({ group: '', resource: 'namespaces' }, namespace);
  return objectOf(stored);
}
