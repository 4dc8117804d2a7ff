import { checkOperator } from './check-operator.ts';
import type { LeftOut, LocalTrial } from './local-use.ts';
import type { Operator } from './operator.ts';

/**
 * withLocalTrial returns an operator with what its `local.start` returned in place of its declarations: without samples
 * if they are left out. It throws BOWLINE_OPERATOR_INVALID for samples that are not valid.
 */
export function withLocalTrial(operator: Operator, trial: LocalTrial | LeftOut): Operator {
  if ('leftOut' in trial) return Object.freeze({ ...operator, samples: [] });
  const { samples = operator.samples, stopped: _, ...display } = trial;
  const given = Object.fromEntries(Object.entries(display).filter(([, value]) => value !== undefined));
  const changed: Operator = { ...operator, samples, local: { ...operator.local, ...given } };
  checkOperator(changed);
  return Object.freeze(changed);
}
