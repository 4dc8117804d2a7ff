import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';

/** ConditionType is the type of a condition of a definition. */
export type ConditionType = 'NamesAccepted' | 'Established' | 'Terminating';

/** conditionOf returns the condition of a definition with a given type. */
export function conditionOf(
  { status }: CustomResourceDefinition,
  type: ConditionType,
): CustomResourceDefinitionCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** isEstablished reports whether the objects of a definition are served. */
export function isEstablished(definition: CustomResourceDefinition): boolean {
  return conditionOf(definition, 'Established')?.status === 'True';
}

/** isTerminating reports whether a definition is being deleted. */
export function isTerminating({ metadata }: CustomResourceDefinition): boolean {
  return metadata?.deletionTimestamp !== undefined;
}

/**
 * withCondition returns the conditions with one replaced or added. Its transition time changes only with its status.
 */
export function withCondition(
  conditions: readonly CustomResourceDefinitionCondition[] | null | undefined,
  wanted: {
    readonly type: ConditionType;
    readonly status: 'True' | 'False';
    readonly reason: string;
    readonly message: string;
  },
  now: number,
): CustomResourceDefinitionCondition[] {
  const list = conditions ?? [];
  const known = list.find(({ type }) => type === wanted.type);
  const lastTransitionTime = known?.status === wanted.status ? known.lastTransitionTime : formatTime(now);
  const condition = { ...wanted, lastTransitionTime };
  return known ? list.map((each) => (each === known ? condition : each)) : [...list, condition];
}
