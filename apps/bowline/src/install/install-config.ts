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
    .describe('The image of the container `manager`; its entry point is bowline.'),
  imagePullPolicy: s.enum(['Always', 'IfNotPresent', 'Never']).optional().describe('When the image is pulled.'),
  imagePullSecrets: s
    .array(s.object({ name: s.dnsSubdomain() }))
    .maxItems(20)
    .listMapBy('name')
    .optional()
    .describe('Secrets with the credentials of the registry, each as `name`.'),
  replicas: s
    .integer('int32')
    .min(0)
    .max(100)
    .optional()
    .describe('How many pods run. By default 2, and 1 without leader election, where more are refused.'),
  serviceAccount: s
    .object({
      annotations: annotations()
        .optional()
        .describe('Annotations of the ServiceAccount, such as those of workload identities.'),
      labels: labels().optional().describe('Labels of the ServiceAccount, beside our own.'),
    })
    .optional(),
  podLabels: labels()
    .rule([NAME, ...Object.keys(PART_OF)].map((key) => `!('${key}' in self)`).join(' && '), {
      message: `${NAME} and ${Object.keys(PART_OF).join(', ')} select the pods and cannot be set; remove them`,
    })
    .optional()
    .describe('Labels of the pods, beside our own.'),
  podAnnotations: annotations()
    .rule(`!('${CONFIG_HASH}' in self)`, { message: `${CONFIG_HASH} is computed and cannot be set; remove it` })
    .optional()
    .describe('Annotations of the pods, beside our own.'),
  env: environment
    .optional()
    .describe(
      'Environment variables: each a `name` with a `value`, or a `valueFrom` a Secret, a ConfigMap or a field.',
    ),
  envFrom: environmentFrom.optional().describe('Secrets and ConfigMaps whose keys all become environment variables.'),
  volumes: volumes
    .optional()
    .describe(
      'Volumes of the pods: secret, configMap, projected, downwardAPI, emptyDir, hostPath, persistentVolumeClaim or csi.',
    ),
  volumeMounts: volumeMounts.optional().describe('Where the container mounts them.'),
  resources: resources.optional(),
  podSecurityContext: s
    .object({
      runAsUser: userId().min(1).describe('The user id; by default the user of the image.'),
      runAsGroup: userId().describe('The group id; by default the group of the image.'),
      fsGroup: userId().describe('The group that owns mounted volumes.'),
      fsGroupChangePolicy: s
        .enum(['Always', 'OnRootMismatch'])
        .optional()
        .describe('When the owner of a mounted volume is changed.'),
      supplementalGroups: s
        .array(
          s
            .integer()
            .min(0)
            .max(2 ** 31 - 1),
        )
        .maxItems(100)
        .optional()
        .describe('Further groups, for instance that of a socket on the node.'),
    })
    .optional(),
  nodeSelector: labels().optional().describe('Labels of the nodes that pods may run on.'),
  tolerations: tolerations.optional().describe('Taints of nodes that pods tolerate.'),
  affinity: affinity.optional().describe('Nodes and pods to run near to or away from.'),
  topologySpreadConstraints: topologySpreadConstraints
    .optional()
    .describe(
      'How pods are spread; by default over nodes where that is possible. A constraint without labelSelector counts the pods of its Deployment.',
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
    .describe('One Deployment and one account for each operator, instead of one for all.'),
  ...fields,
  operators: s
    .map(installFields)
    .maxProperties(100)
    .optional()
    .describe('The same fields for single operators, by their names: for the Deployment that runs them.'),
});

/** InstallConfig is the value that installConfig reads, with defaults filled in. */
export type InstallConfig = Read<typeof installConfig>;
