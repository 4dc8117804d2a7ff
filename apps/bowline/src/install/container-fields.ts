import { s } from '@bowline/machinery/schema';

// The fields of a container and its volumes, with the same names and shape as in a pod's spec.

const MAX_ITEMS = 100;

const ENV_NAME = '^[-._a-zA-Z][-._a-zA-Z0-9]*$';

const objectName = () => s.dnsSubdomain();
const fileMode = () => s.integer('int32').min(0).max(0o777).optional();
const isOptional = s.boolean().optional();

/** A quantity as a string, as the API returns it. */
const quantityText = () =>
  s
    .string()
    .maxLength(63)
    .pattern(s.quantity().json.pattern ?? '');

const keyRef = s.object({
  name: objectName(),
  key: s.string().minLength(1).maxLength(253).pattern('^[-._a-zA-Z0-9]+$'),
  optional: isOptional,
});

const fieldRef = s.object({
  fieldPath: s.string().minLength(1).maxLength(512),
  apiVersion: s.string().maxLength(253).optional(),
});

const resourceFieldRef = s.object({
  resource: s.string().minLength(1).maxLength(253),
  containerName: s.string().maxLength(63).optional(),
  divisor: quantityText().optional(),
});

/** environment is the schema of `env` of the manager's container. */
export const environment = s
  .array(
    s
      .object({
        name: s.string().minLength(1).maxLength(253).pattern(ENV_NAME),
        value: s.string().maxLength(32_768).optional(),
        valueFrom: s
          .object({
            secretKeyRef: keyRef.optional(),
            configMapKeyRef: keyRef.optional(),
            fieldRef: fieldRef.optional(),
            resourceFieldRef: resourceFieldRef.optional(),
          })
          .exactlyOneOf('secretKeyRef', 'configMapKeyRef', 'fieldRef', 'resourceFieldRef')
          .optional(),
      })
      .rule("!has(self.valueFrom) || !has(self.value) || self.value == ''", {
        message: 'may not be specified when `value` is not empty',
        fieldPath: '.valueFrom',
      }),
  )
  .maxItems(MAX_ITEMS)
  .listMapBy('name');

const reference = s.object({ name: objectName(), optional: isOptional });

/** environmentFrom is the schema of `envFrom` of the manager's container. */
export const environmentFrom = s
  .array(
    s
      .object({
        prefix: s.string().maxLength(253).pattern(ENV_NAME).optional(),
        secretRef: reference.optional(),
        configMapRef: reference.optional(),
      })
      .exactlyOneOf('secretRef', 'configMapRef'),
  )
  .maxItems(MAX_ITEMS);

/** A path below a volume may not leave it. */
const relativePath = () =>
  s
    .string()
    .minLength(1)
    .maxLength(4096)
    .rule("!self.startsWith('/')", { message: 'must be a relative path' })
    .rule("!self.split('/').exists(step, step == '..')", { message: "must not contain '..'" });

const items = s
  .array(s.object({ key: s.string().minLength(1).maxLength(253), path: relativePath(), mode: fileMode() }))
  .maxItems(MAX_ITEMS)
  .optional();

const downwardItems = s
  .array(
    s
      .object({
        path: relativePath(),
        fieldRef: fieldRef.optional(),
        resourceFieldRef: resourceFieldRef.optional(),
        mode: fileMode(),
      })
      .exactlyOneOf('fieldRef', 'resourceFieldRef'),
  )
  .maxItems(MAX_ITEMS)
  .optional();

const projection = s
  .object({
    serviceAccountToken: s
      .object({
        path: relativePath(),
        audience: s.string().maxLength(1024).optional(),
        expirationSeconds: s
          .integer()
          .max(2 ** 32)
          .optional()
          .rule('self >= 600', { message: 'may not specify a duration less than 10 minutes' }),
      })
      .optional(),
    secret: s.object({ name: objectName(), items, optional: isOptional }).optional(),
    configMap: s.object({ name: objectName(), items, optional: isOptional }).optional(),
    downwardAPI: s.object({ items: downwardItems }).optional(),
    clusterTrustBundle: s
      .object({
        path: relativePath(),
        name: s.string().maxLength(253).optional(),
        signerName: s.string().maxLength(571).optional(),
        labelSelector: s.labelSelector().optional(),
        optional: isOptional,
      })
      .optional(),
  })
  .exactlyOneOf('serviceAccountToken', 'secret', 'configMap', 'downwardAPI', 'clusterTrustBundle');

/** volumes is the schema of `volumes` of the pod: the sources that are useful to an operator. */
export const volumes = s
  .array(
    s
      .object({
        name: s.dnsLabel(),
        secret: s.object({ secretName: objectName(), items, defaultMode: fileMode(), optional: isOptional }).optional(),
        configMap: s.object({ name: objectName(), items, defaultMode: fileMode(), optional: isOptional }).optional(),
        projected: s
          .object({ sources: s.array(projection).minItems(1).maxItems(MAX_ITEMS), defaultMode: fileMode() })
          .optional(),
        downwardAPI: s.object({ items: downwardItems, defaultMode: fileMode() }).optional(),
        emptyDir: s
          .object({ medium: s.enum(['', 'Memory']).optional(), sizeLimit: quantityText().optional() })
          .optional(),
        hostPath: s
          .object({
            path: s.string().minLength(1).maxLength(4096),
            type: s
              .enum([
                '',
                'BlockDevice',
                'CharDevice',
                'Directory',
                'DirectoryOrCreate',
                'File',
                'FileOrCreate',
                'Socket',
              ])
              .optional(),
          })
          .optional(),
        persistentVolumeClaim: s.object({ claimName: objectName(), readOnly: s.boolean().optional() }).optional(),
        csi: s
          .object({
            driver: s.string().minLength(1).maxLength(63),
            readOnly: s.boolean().optional(),
            fsType: s.string().maxLength(63).optional(),
            volumeAttributes: s.map(s.string().maxLength(4096)).maxProperties(MAX_ITEMS).optional(),
            nodePublishSecretRef: s.object({ name: objectName() }).optional(),
          })
          .optional(),
      })
      .exactlyOneOf(
        'secret',
        'configMap',
        'projected',
        'downwardAPI',
        'emptyDir',
        'hostPath',
        'persistentVolumeClaim',
        'csi',
      )
      .rule("self.name != 'config'", {
        message: 'is the name of the volume with bowline.yaml; choose another one',
        fieldPath: '.name',
      }),
  )
  .maxItems(MAX_ITEMS)
  .listMapBy('name');

/** volumeMounts is the schema of `volumeMounts` of the manager's container. */
export const volumeMounts = s
  .array(
    s.object({
      name: s.dnsLabel(),
      mountPath: s
        .string()
        .minLength(1)
        .maxLength(4096)
        .rule("self.startsWith('/')", { message: 'must be an absolute path' })
        .rule("!self.contains(':')", { message: "must not contain ':'" })
        .rule("!self.matches('^/etc/bowline(/|$)')", {
          message: 'is where bowline.yaml is mounted; choose another path',
        }),
      readOnly: s.boolean().optional(),
      subPath: relativePath().optional(),
      mountPropagation: s.enum(['None', 'HostToContainer']).optional(),
    }),
  )
  .maxItems(MAX_ITEMS)
  .listMapBy('mountPath');

const amounts = s.map(s.quantity()).maxProperties(20).optional();

/** resources is the schema of `resources` of the manager's container. */
export const resources = s.object({
  requests: amounts.describe('Resource requests of the container. By default cpu 50m and memory 96Mi.'),
  limits: amounts.describe('Resource limits of the container. By default memory 512Mi.'),
});
