import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '@bowline/kubernetes';
import { project } from '@bowline/runtime';

/** PolicyView is what is kept of an admission policy of the install. */
export interface PolicyView {
  readonly name: string;
  /** Whether a request is refused when the policy cannot be evaluated. */
  readonly isStrict: boolean;
}

/** BindingView is what is kept of the binding of an admission policy of the install. */
export interface BindingView {
  readonly name: string;
  readonly policyName: string;
  /** Whether it refuses requests, and does not only warn. */
  readonly isDenying: boolean;
}

/** policyView keeps whether a policy refuses requests. */
export const policyView = project(
  ({ metadata, spec }: ValidatingAdmissionPolicy): PolicyView => ({
    name: metadata?.name ?? '',
    isStrict: spec?.failurePolicy !== 'Ignore',
  }),
);

/** bindingView keeps which policy a binding puts into effect, and how. */
export const bindingView = project(
  ({ metadata, spec }: ValidatingAdmissionPolicyBinding): BindingView => ({
    name: metadata?.name ?? '',
    policyName: spec?.policyName ?? '',
    isDenying: spec?.validationActions?.includes('Deny') ?? false,
  }),
);

/** GuardState tells whether the API server checks who writes reports. */
export interface GuardState {
  readonly isGuarded: boolean;
  readonly reason: 'Guarded' | 'PolicyMissing' | 'BindingMissing';
  readonly message: string;
}

/** GuardNames are the names that the policies and their bindings have in this install, in the same order. */
export interface GuardNames {
  readonly policies: readonly string[];
  readonly bindings: readonly string[];
}

/** guardState decides whether all policies of the install exist and are in effect. */
export function guardState(
  names: GuardNames,
  policies: readonly PolicyView[],
  bindings: readonly BindingView[],
): GuardState {
  const remedy = 'apply the manifests of the install again';
  const missing = names.policies.find((name) => !policies.some((policy) => policy.name === name && policy.isStrict));
  if (missing !== undefined) {
    const message = `the ValidatingAdmissionPolicy ${missing} is missing or has failurePolicy Ignore, so anyone who may change pods can forge reports; ${remedy}`;
    return { isGuarded: false, reason: 'PolicyMissing', message };
  }
  const isInEffect = (name: string, policyName: string | undefined): boolean =>
    bindings.some((binding) => binding.name === name && binding.isDenying && binding.policyName === policyName);
  const unbound = names.bindings.find((name, index) => !isInEffect(name, names.policies[index]));
  if (unbound !== undefined) {
    const message = `the ValidatingAdmissionPolicyBinding ${unbound} is missing or does not deny, so anyone who may change pods can forge reports; ${remedy}`;
    return { isGuarded: false, reason: 'BindingMissing', message };
  }
  return { isGuarded: true, reason: 'Guarded', message: 'reports are accepted only from the pods that they are about' };
}
