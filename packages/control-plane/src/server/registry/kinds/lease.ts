import type { Lease } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import type { Draft } from '../api-resource.ts';
import type { KindRules } from '../built-in-strategy.ts';
import { AGE, as, column } from './shared/column.ts';
import { invalid, notNegative } from './shared/problems.ts';

/** leaseRules validates the duration and the transitions of a Lease. */
export const leaseRules: KindRules = {
  prepareForCreate: dropCoordination,
  prepareForUpdate: dropCoordination,
  validate(object) {
    const { leaseDurationSeconds, leaseTransitions } = as<Lease>(object).spec ?? {};
    const problems: FieldProblem[] = [];
    if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0)
      problems.push(invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'));
    return [...problems, ...notNegative('spec.leaseTransitions', leaseTransitions)];
  },
  columns: [
    column('Holder', 'Identity of the current holder.', (object) => as<Lease>(object).spec?.holderIdentity ?? ''),
    AGE,
  ],
};

/** The API server accepts these fields only with coordinated leader election, which is off by default. */
function dropCoordination(object: Draft): void {
  const { spec } = as<Lease>(object);
  if (spec) Object.assign(spec, { strategy: undefined, preferredHolder: undefined });
}
