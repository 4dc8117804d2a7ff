import type { KindRules } from '../built-in-strategy.ts';

/** serviceAccountRules: what a ServiceAccount says is taken as it is. */
export const serviceAccountRules: KindRules = { tellsDeleted: true };
