import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';

/** ConditionType is what a condition of a definition is about. */
export type ConditionType = 'NamesAccepted' | 'Established' | 'Terminating';

/** conditionOf is a definition's condition of a type. */
export function conditionOf(
  { status }: CustomResourceDefinition,
  type: ConditionType,
): CustomResourceDefinitionCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** isEstablished says whether the objects of a definition are served. */
export function isEstablished(definition: CustomResourceDefinition): boolean {
  return conditionOf(definition, 'Established')?.status === 'True';
}

/** isTerminating says whether a definition is on its way out. */
export function isTerminating({ metadata }: CustomResourceDefinition): boolean {
  return metadata?.deletionTimestamp !== undefined;
}

/** withCondition is a list of conditions with one replaced, or added. Its time changes with its status. */
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
