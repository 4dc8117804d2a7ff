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
      type: string().describe('What the condition is about.').maxLength(316).pattern(QUALIFIED_NAME),
      status: enumeration(['True', 'False', 'Unknown']).describe('Whether it holds.'),
      observedGeneration: integer()
        .describe('The generation of the object that the condition was computed from.')
        .min(0)
        .optional(),
      lastTransitionTime: dateTime().describe('When the status last changed.'),
      reason: string()
        .describe('One word that says why, for programs.')
        .minLength(1)
        .maxLength(1024)
        .pattern('^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'),
      message: string().describe('What people should know.').maxLength(32_768),
    }),
  ).listMapBy('type');
}
