import { s } from '@bowline/runtime/resource';

// The API server validates the content when it validates the pods, so these schemas describe only its shape.
const text = () => s.string().maxLength(1024);
const texts = () => s.array(text()).maxItems(256).listType('atomic');
const weight = () => s.integer('int32').min(1).max(100);

const requirement = s.object({ key: text(), operator: text(), values: texts().optional() });

const nodeTerm = s
  .object({
    matchExpressions: s.array(requirement).maxItems(50).listType('atomic').optional(),
    matchFields: s.array(requirement).maxItems(50).listType('atomic').optional(),
  })
  .structType('atomic');

const nodeAffinity = s.object({
  requiredDuringSchedulingIgnoredDuringExecution: s
    .object({ nodeSelectorTerms: s.array(nodeTerm).maxItems(50).listType('atomic') })
    .structType('atomic')
    .optional(),
  preferredDuringSchedulingIgnoredDuringExecution: s
    .array(s.object({ weight: weight(), preference: nodeTerm }))
    .maxItems(50)
    .listType('atomic')
    .optional(),
});

const podTerm = s.object({
  labelSelector: s.labelSelector().optional(),
  namespaceSelector: s.labelSelector().optional(),
  namespaces: texts().optional(),
  topologyKey: text(),
  matchLabelKeys: texts().optional(),
  mismatchLabelKeys: texts().optional(),
});

const podAffinity = () =>
  s.object({
    requiredDuringSchedulingIgnoredDuringExecution: s.array(podTerm).maxItems(50).listType('atomic').optional(),
    preferredDuringSchedulingIgnoredDuringExecution: s
      .array(s.object({ weight: weight(), podAffinityTerm: podTerm }))
      .maxItems(50)
      .listType('atomic')
      .optional(),
  });

const affinity = s.object({
  nodeAffinity: nodeAffinity.optional(),
  podAffinity: podAffinity().optional(),
  podAntiAffinity: podAffinity().optional(),
});

const toleration = s.object({
  key: text().optional(),
  operator: text().optional(),
  value: text().optional(),
  effect: text().optional(),
  tolerationSeconds: s.integer().optional(),
});

const quantities = () => s.map(s.quantity()).maxProperties(50);

const topologySpreadConstraint = s.object({
  maxSkew: s.integer('int32'),
  topologyKey: text(),
  whenUnsatisfiable: text(),
  labelSelector: s.labelSelector().optional(),
  minDomains: s.integer('int32').optional(),
  nodeAffinityPolicy: text().optional(),
  nodeTaintsPolicy: text().optional(),
  matchLabelKeys: texts().optional(),
});

/** sharedPodFields are the settings of pods that the ZeroTrustWorkloadIdentityManager has for all operands. */
export const sharedPodFields = {
  labels: s.map(text()).maxProperties(64).describe('Labels of all objects.').optional(),
  resources: s
    .object({ requests: quantities().optional(), limits: quantities().optional() })
    .describe('Resources of each container.')
    .optional(),
  affinity: affinity.describe('Affinity of the pods.').optional(),
  tolerations: s.array(toleration).maxItems(50).listType('atomic').describe('Tolerations of the pods.').optional(),
  nodeSelector: s
    .map(text())
    .maxProperties(50)
    .mapType('atomic')
    .describe('Labels of the nodes that the pods may run on.')
    .optional(),
};

/** operandPodFields are the settings of pods that every operand has. Its own values replace the shared ones. */
export const operandPodFields = {
  ...sharedPodFields,
  priorityClassName: s.dnsSubdomain().describe('The PriorityClass of the pods.').optional(),
  topologySpreadConstraints: s
    .array(topologySpreadConstraint)
    .maxItems(50)
    .listType('atomic')
    .describe('How the pods are distributed over the nodes.')
    .optional(),
};

/** logFields are the settings of the log of a SPIRE program. */
export const logFields = {
  logLevel: s.enum(['debug', 'info', 'warn', 'error']).default('info').describe('The level of the log.'),
  logFormat: s.enum(['text', 'json']).default('text').describe('The format of the log.'),
};

/** ingressField returns the schema of an Ingress, which exposes a Service where Routes are not served. */
export function ingressField() {
  return s
    .object({
      className: s.dnsSubdomain().describe('The IngressClass. Defaults to that of the cluster.').optional(),
      host: s.dnsSubdomain().describe('The host name. Defaults to that of the Route.').optional(),
      annotations: s.map(s.string().maxLength(4096)).maxProperties(64).describe('Its annotations.').optional(),
      tlsSecretName: s.dnsSubdomain().describe('The Secret with its certificate. Defaults to none.').optional(),
    })
    .describe('An Ingress that exposes the Service where Routes are not served. Defaults to none.')
    .optional();
}
