import { s } from '@bowline/machinery/schema';

// The fields that decide where pods run, with the same names and shape as in a pod's spec.

const MAX_ITEMS = 100;

const LABEL_NAME = '([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)';
const QUALIFIED_NAME = `^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?${LABEL_NAME}$`;

/** QUALIFIED_KEYS is the rule for the keys of a map of labels or annotations. */
const QUALIFIED_KEYS = {
  rule: `self.all(key, key.matches('${QUALIFIED_NAME}'))`,
  message:
    "keys must consist of alphanumeric characters, '-', '_' or '.', with an optional DNS subdomain prefix and '/'",
} as const;

/** labels returns the schema of a map of labels. */
export function labels() {
  return s
    .map(s.string().maxLength(63).pattern(`^${LABEL_NAME}?$`))
    .maxProperties(MAX_ITEMS)
    .rule(QUALIFIED_KEYS.rule, { message: QUALIFIED_KEYS.message });
}

/** annotations returns the schema of a map of annotations. */
export function annotations() {
  return s
    .map(s.string().maxLength(262_144))
    .maxProperties(MAX_ITEMS)
    .rule(QUALIFIED_KEYS.rule, { message: QUALIFIED_KEYS.message });
}

/** tolerations is the schema of `tolerations` of the pod. */
export const tolerations = s
  .array(
    s
      .object({
        key: s.string().maxLength(316).optional(),
        operator: s.enum(['Equal', 'Exists', 'Gt', 'Lt']).optional(),
        value: s.string().maxLength(63).optional(),
        effect: s.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
        tolerationSeconds: s.integer().optional(),
      })
      .rule("has(self.key) && self.key != '' || has(self.operator) && self.operator == 'Exists'", {
        message: 'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        fieldPath: '.operator',
      })
      .rule("!has(self.operator) || self.operator != 'Exists' || !has(self.value) || self.value == ''", {
        message: "value must be empty when `operator` is 'Exists'",
        fieldPath: '.operator',
      })
      .rule("!has(self.tolerationSeconds) || has(self.effect) && self.effect == 'NoExecute'", {
        message: "effect must be 'NoExecute' when `tolerationSeconds` is set",
        fieldPath: '.effect',
      }),
  )
  .maxItems(MAX_ITEMS);

const topologyKey = s.string().minLength(1).maxLength(316);
const names = s.array(s.string().maxLength(316)).maxItems(MAX_ITEMS).optional();

/**
 * topologySpreadConstraints is the schema of the same field of the pod. Without a selector, a constraint counts the
 * pods of its own Deployment.
 */
export const topologySpreadConstraints = s
  .array(
    s.object({
      maxSkew: s.integer('int32').min(1),
      topologyKey,
      whenUnsatisfiable: s.enum(['DoNotSchedule', 'ScheduleAnyway']),
      labelSelector: s.labelSelector().optional(),
      matchLabelKeys: names,
      minDomains: s.integer('int32').min(1).optional(),
      nodeAffinityPolicy: s.enum(['Honor', 'Ignore']).optional(),
      nodeTaintsPolicy: s.enum(['Honor', 'Ignore']).optional(),
    }),
  )
  .maxItems(MAX_ITEMS);

const nodeRequirements = s
  .array(
    s.object({
      key: s.string().minLength(1).maxLength(316),
      operator: s.enum(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']),
      values: names,
    }),
  )
  .maxItems(MAX_ITEMS)
  .optional();

const nodeSelectorTerm = s.object({ matchExpressions: nodeRequirements, matchFields: nodeRequirements });

const weight = s.integer('int32').min(1).max(100);

const podAffinityTerm = s.object({
  topologyKey,
  labelSelector: s.labelSelector().optional(),
  matchLabelKeys: names,
  mismatchLabelKeys: names,
  namespaceSelector: s.labelSelector().optional(),
  namespaces: names,
});

const podAffinity = s
  .object({
    requiredDuringSchedulingIgnoredDuringExecution: s.array(podAffinityTerm).maxItems(MAX_ITEMS).optional(),
    preferredDuringSchedulingIgnoredDuringExecution: s
      .array(s.object({ weight, podAffinityTerm }))
      .maxItems(MAX_ITEMS)
      .optional(),
  })
  .optional();

/** affinity is the schema of `affinity` of the pod. */
export const affinity = s
  .object({
    nodeAffinity: s
      .object({
        requiredDuringSchedulingIgnoredDuringExecution: s
          .object({ nodeSelectorTerms: s.array(nodeSelectorTerm).minItems(1).maxItems(MAX_ITEMS) })
          .optional(),
        preferredDuringSchedulingIgnoredDuringExecution: s
          .array(s.object({ weight, preference: nodeSelectorTerm }))
          .maxItems(MAX_ITEMS)
          .optional(),
      })
      .optional(),
    podAffinity,
    podAntiAffinity: podAffinity,
  })
  .structType('atomic');
