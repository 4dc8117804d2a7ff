import { pendingInheritance } from '../../../operators/ztwim/src/resolve/inheritance.ts';
import { resolve } from '../../../operators/ztwim/src/resolve/resolve.ts';
import { inherit } from '../../../operators/ztwim/src/webhooks/inherit.ts';
import { reviewConfig } from '../../../operators/ztwim/src/webhooks/review-config.ts';
import { reviewOperand } from '../../../operators/ztwim/src/webhooks/review-operand.ts';

/** Subject is the part of the operator that is proved. Tests of the judge replace parts of it by broken ones. */
export interface Subject {
  readonly resolve: typeof resolve;
  readonly pendingInheritance: typeof pendingInheritance;
  readonly inherit: typeof inherit;
  readonly reviewConfig: typeof reviewConfig;
  readonly reviewOperand: typeof reviewOperand;
}

/** OPERATOR is the operator as it is shipped. */
export const OPERATOR: Subject = { resolve, pendingInheritance, inherit, reviewConfig, reviewOperand };
