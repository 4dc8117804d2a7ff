import { type Read, s } from '@bowline/machinery/schema';
import { environment, environmentFrom, resources, volumeMounts, volumes } from './container-fields.ts';
import { NAME, PART_OF } from './labels.ts';
import { affinity, annotations, labels, tolerations, topologySpreadConstraints } from './scheduling-fields.ts';

/** CONFIG_HASH is the annotation that changes the pod template when the configuration changes. */
export const CONFIG_HASH = 'bowline.dev/config-hash';

const userId = () =>
  s
    .integer()
    .min(0)
    .max(2 ** 31 - 1)
    .optional();

/** Fields of one Deployment, its pods and its ServiceAccount. */
const fields = {
  image: s
    .string()
    .minLength(1)
    .maxLength(1024)
    .optional()
    .describe('The image of the container `manager`. Its entry point must be bowline.'),
  imagePullPolicy: s.enum(['Always', 'IfNotPresent', 'Never']).optional().describe('When to pull the image.'),
  imagePullSecrets: s
    .array(s.object({ name: s.dnsSubdomain() }))
    .maxItems(20)
    .listMapBy('name')
    .optional()
    .describe('The Secrets with the registry credentials, each as `name`.'),
  replicas: s
    .integer('int32')
    .min(0)
    .max(100)
    .optional()
    .describe('The number of pods. By default 2, or 1 without leader election, which does not allow more.'),
  serviceAccount: s
    .object({
      annotations: annotations()
        .optional()
        .describe('Annotations of the ServiceAccount, for example for workload identities.'),
      labels: labels().optional().describe('Additional labels of the ServiceAccount.'),
    })
    .optional(),
  podLabels: labels()
    .rule([NAME, ...Object.keys(PART_OF)].map((key) => `!('${key}' in self)`).join(' && '), {
      message: `${NAME} and ${Object.keys(PART_OF).join(', ')} select the pods and cannot be set; remove them`,
    })
    .optional()
    .describe('Additional labels of the pods.'),
  podAnnotations: annotations()
    .rule(`!('${CONFIG_HASH}' in self)`, { message: `${CONFIG_HASH} is computed and cannot be set; remove it` })
    .optional()
    .describe('Additional annotations of the pods.'),
  env: environment
    .optional()
    .describe(
      'Environment variables of the container, each a `name` with a `value`, or with `valueFrom` a Secret, a ConfigMap or a field of the pod.',
    ),
  envFrom: environmentFrom.optional().describe('Secrets and ConfigMaps with all keys to set as environment variables.'),
  volumes: volumes
    .optional()
    .describe(
      'Volumes of the pods: secret, configMap, projected, downwardAPI, emptyDir, hostPath, persistentVolumeClaim or csi.',
    ),
  volumeMounts: volumeMounts.optional().describe('Volume mounts of the container.'),
  resources: resources.optional(),
  podSecurityContext: s
    .object({
      runAsUser: userId().min(1).describe('The user ID. By default the user of the image.'),
      runAsGroup: userId().describe('The group ID. By default the group of the image.'),
      fsGroup: userId().describe('The group ID that owns mounted volumes.'),
      fsGroupChangePolicy: s
        .enum(['Always', 'OnRootMismatch'])
        .optional()
        .describe('When to change the ownership of a mounted volume.'),
      supplementalGroups: s
        .array(
          s
            .integer()
            .min(0)
            .max(2 ** 31 - 1),
        )
        .maxItems(100)
        .optional()
        .describe('Additional group IDs, for example of a socket on the node.'),
    })
    .optional(),
  nodeSelector: labels().optional().describe('Labels of the nodes that the pods may run on.'),
  tolerations: tolerations.optional().describe('Taints that the pods tolerate.'),
  affinity: affinity.optional().describe('Node and pod affinity of the pods.'),
  topologySpreadConstraints: topologySpreadConstraints
    .optional()
    .describe(
      'How the pods are distributed. By default over nodes if possible. A constraint without labelSelector applies to the pods of its Deployment.',
    ),
  priorityClassName: s.dnsSubdomain().optional().describe('The PriorityClass of the pods.'),
};

/** installFields is the schema of the fields of one Deployment, its pods and its ServiceAccount. */
export const installFields = s.object(fields);

/** InstallFields is the value that installFields reads. */
export type InstallFields = Read<typeof installFields>;

/**
 * installConfig is the schema of the section `install` of bowline.yaml: what `bowline manifests` needs beyond the
 * settings of the manager. A running manager accepts the section and ignores it.
 */
export const installConfig = s.object({
  perOperator: s
    .boolean()
    .default(false)
    .describe('Create one Deployment and one ServiceAccount for each operator, instead of one for all.'),
  ...fields,
  operators: s
    .map(installFields)
    .maxProperties(100)
    .optional()
    .describe(
      'The same fields for single operators, by operator name. They apply to the Deployment that runs the operator.',
    ),
});

/** InstallConfig is the value that installConfig reads, with defaults filled in. */
export type InstallConfig = Read<typeof installConfig>;
