import type { KindRules } from './built-in-strategy.ts';
import { configMapRules } from './kinds/config-map.ts';

/** KIND_RULES are what is special about built-in kinds, by `Kind.group`. A kind without an entry is as all are. */
export const KIND_RULES: Readonly<Record<string, KindRules>> = {
  'ConfigMap.': configMapRules,
};
