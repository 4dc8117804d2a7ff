import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '@bowline/kubernetes';
import { project } from '@bowline/runtime';
import { policyRules } from './policy-rules.ts';

/** PolicyView is what is kept of an admission policy of the install. */
export interface PolicyView {
  readonly name: string;
  /** What it checks. */
  readonly rules: string;
}

/** BindingView is what is kept of the binding of an admission policy of the install. */
export interface BindingView {
  readonly name: string;
  readonly policyName: string;
  /** Whether it refuses requests, and does not only warn. */
  readonly isDenying: boolean;
}

/** policyView keeps what a policy checks. */
export const policyView = project(
  ({ metadata, spec }: ValidatingAdmissionPolicy): PolicyView => ({
    name: metadata?.name ?? '',
    rules: policyRules(spec),
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

/** Guard is an admission policy of the install with its binding. */
export interface Guard {
  readonly policyName: string;
  /** What this version of the policy checks. */
  readonly rules: string;
  readonly bindingName: string;
}

/** guardState decides whether all policies of the install exist, are as this version declares them, and are in effect. */
export function guardState(
  guards: readonly Guard[],
  policies: readonly PolicyView[],
  bindings: readonly BindingView[],
): GuardState {
  const risk = 'anyone who may change pods can forge reports; apply the manifests of the install again';
  const isCurrent = ({ policyName, rules }: Guard): boolean =>
    policies.some((policy) => policy.name === policyName && policy.rules === rules);
  const missing = guards.find((guard) => !isCurrent(guard));
  if (missing) {
    const message = `the ValidatingAdmissionPolicy ${missing.policyName} is missing or differs from the one of this version, so ${risk}`;
    return { isGuarded: false, reason: 'PolicyMissing', message };
  }
  const isInEffect = ({ bindingName, policyName }: Guard): boolean =>
    bindings.some((binding) => binding.name === bindingName && binding.isDenying && binding.policyName === policyName);
  const unbound = guards.find((guard) => !isInEffect(guard));
  if (unbound) {
    const message = `the ValidatingAdmissionPolicyBinding ${unbound.bindingName} is missing or does not deny, so ${risk}`;
    return { isGuarded: false, reason: 'BindingMissing', message };
  }
  return { isGuarded: true, reason: 'Guarded', message: 'reports are accepted only from the pods that they are about' };
}
