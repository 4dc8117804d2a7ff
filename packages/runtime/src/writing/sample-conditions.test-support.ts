import type { Condition } from '@bowline/kubernetes/meta-v1';
import { parseTime } from '@bowline/machinery';
import type { ConditionUpdate } from './conditions.ts';

export const THEN = '2026-01-01T00:00:00Z';
export const NOW = '2026-01-01T01:00:00Z';
export const at: { readonly now: number; readonly generation: number } = { now: parseTime(NOW), generation: 2 };

/** stored is a condition as it was written an hour ago. */
export const stored: Condition = {
  type: 'Available',
  status: 'True',
  reason: 'Running',
  message: 'it runs',
  lastTransitionTime: THEN,
  observedGeneration: 2,
};
/** update returns what a reconcile reports of the condition. */
export const update = (change: Partial<ConditionUpdate> = {}): ConditionUpdate => ({
  type: 'Available',
  status: true,
  reason: 'Running',
  message: 'it runs',
  ...change,
});
