import { array, dateTime, enumeration, integer, map, object, string } from './primitives.ts';

const QUALIFIED_NAME =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$';

/** labelSelector returns the schema of a `metav1.LabelSelector`, owned as a whole. An empty one selects everything. */
export function labelSelector() {
  return object({
    matchLabels: map(string()).optional(),
    matchExpressions: array(
      object({ key: string(), operator: string(), values: array(string()).listType('atomic').optional() }),
    )
      .listType('atomic')
      .optional(),
  }).structType('atomic');
}

/** conditions returns the schema of a list of `metav1.Condition`, one of each type. */
export function conditions() {
  return array(
    object({
      type: string().describe('Type of the condition.').maxLength(316).pattern(QUALIFIED_NAME),
      status: enumeration(['True', 'False', 'Unknown']).describe('Status of the condition.'),
      observedGeneration: integer()
        .describe('Generation of the object for which the condition was set.')
        .min(0)
        .optional(),
      lastTransitionTime: dateTime().describe('Last time the status of the condition changed.'),
      reason: string()
        .describe('Machine-readable reason for the last transition, in CamelCase.')
        .minLength(1)
        .maxLength(1024)
        .pattern('^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'),
      message: string().describe('Human-readable message with details about the last transition.').maxLength(32_768),
    }),
  ).listMapBy('type');
}
