import type { Case } from '../step.ts';
import { access } from './access.ts';
import { badInput } from './bad-input.ts';
import { definitions } from './definitions.ts';
import { deletion } from './deletion.ts';
import { discovery } from './discovery.ts';
import { found } from './found.ts';
import { lifeOfKinds } from './life-of-kinds.ts';
import { lists } from './lists.ts';
import { patches } from './patches.ts';
import { serverSideApply } from './server-side-apply.ts';
import { validation } from './validation.ts';
import { watches } from './watches.ts';

/** cases lists all written cases. */
export const cases: readonly Case[] = [
  ...discovery,
  ...lifeOfKinds,
  ...lists,
  ...watches,
  ...patches,
  ...serverSideApply,
  ...deletion,
  ...validation,
  ...definitions,
  ...access,
  ...badInput,
  ...found,
];
