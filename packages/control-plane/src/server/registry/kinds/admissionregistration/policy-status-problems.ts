import type { ValidatingAdmissionPolicyStatus } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import { conditionsProblems } from '../shared/condition-problems.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { required } from '../shared/problems.ts';

/** policyStatusProblems validates the status of a policy. */
export function policyStatusProblems(status: PartialObject<ValidatingAdmissionPolicyStatus>): FieldProblem[] {
  const { typeChecking, conditions = [] } = status;
  const warnings = (typeChecking?.expressionWarnings ?? []).flatMap(({ warning = '', fieldRef = '' }, index) => {
    const at = `status.typeChecking.expressionWarnings[${index}]`;
    return [
      ...(warning === '' ? [required(`${at}.warning`)] : []),
      ...(fieldRef.trim() === '' ? [required(`${at}.fieldRef`)] : []),
    ];
  });
  return [...warnings, ...conditionsProblems('status.conditions', conditions)];
}
