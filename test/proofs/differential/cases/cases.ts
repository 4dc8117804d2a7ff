import type { Case } from '../step.ts';
import { access } from './access.ts';
import { admissionPolicies } from './admission-policies.ts';
import { badInput } from './bad-input.ts';
import { definitions } from './definitions.ts';
import { deletion } from './deletion.ts';
import { discovery } from './discovery.ts';
import { hsmPolicies } from './hsm-policies.ts';
import { kindLifecycles } from './kind-lifecycles.ts';
import { lists } from './lists.ts';
import { patches } from './patches.ts';
import { regressions } from './regressions.ts';
import { serverSideApply } from './server-side-apply.ts';
import { validation } from './validation.ts';
import { volumeBinding } from './volume-binding.ts';
import { volumes } from './volumes.ts';
import { watches } from './watches.ts';

/** cases lists all written cases. */
export const cases: readonly Case[] = [
  ...discovery,
  ...kindLifecycles,
  ...lists,
  ...watches,
  ...patches,
  ...serverSideApply,
  ...deletion,
  ...validation,
  ...definitions,
  ...access,
  ...admissionPolicies,
  ...hsmPolicies,
  ...badInput,
  ...regressions,
  ...volumes,
  ...volumeBinding,
];
