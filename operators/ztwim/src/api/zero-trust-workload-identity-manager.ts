import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource, s } from '@bowline/runtime/resource';
import { OPERAND_KINDS } from './operand-kinds.ts';
import { proxy } from './proxy.ts';
import { sharedPodFields } from './scheduling.ts';
import { clusterNameField, jwtIssuerField, trustDomainField } from './shared-fields.ts';
import { readyColumns, singletonOf } from './singleton.ts';

const bundleConfig = s.object({
  name: s.dnsSubdomain().describe('The name of the ConfigMap.'),
  namespace: s
    .dnsLabel()
    .describe('Only the namespace of the operands is accepted, because pods cannot mount other ConfigMaps.')
    .optional(),
});

const deletion = s.object({
  timeoutSeconds: s
    .integer('int32')
    .min(5)
    .max(600)
    .default(30)
    .describe('How long the cleanup of an operand may wait for something.'),
  forceFinalizerRemoval: s
    .boolean()
    .default(true)
    .describe('Whether the deletion continues after that time. If false, it waits without limit.'),
});

const spec = s
  .object({
    trustDomain: trustDomainField().describe('The trust domain of all identities.').optional(),
    clusterName: clusterNameField().describe('The name of this cluster in the identities of its nodes.').optional(),
    bundleConfig: bundleConfig.describe('The ConfigMap with the trust bundle. Defaults to spire-bundle.').optional(),
    bundleConfigMap: s.dnsSubdomain().describe('The same as bundleConfig.name. Set one of the two.').optional(),
    jwtIssuer: jwtIssuerField().describe('The issuer of JWT-SVIDs, an http or https URL.').optional(),
    namespace: s.dnsLabel().describe('The namespace of the operands, as the operator is configured.').optional(),
    ...sharedPodFields,
    proxy: proxy.describe('How all pods reach other networks. Defaults to a direct connection.').optional(),
    identityChangePolicy: s
      .enum(['Cascade', 'Forbid'])
      .default('Cascade')
      .describe('Whether trustDomain and clusterName may change while identities are in use.'),
    requiredOperands: s
      .array(s.enum(OPERAND_KINDS))
      .minItems(1)
      .maxItems(OPERAND_KINDS.length)
      .listType('set')
      .default([...OPERAND_KINDS])
      .describe('The operands that must be ready for this object to be ready.'),
    deletion: deletion.default({}).describe('How operands are deleted.'),
  })
  .rule('!has(self.bundleConfig) || !has(self.bundleConfigMap)', {
    message: 'bundleConfig and bundleConfigMap name the same ConfigMap; set only one of them',
    fieldPath: '.bundleConfigMap',
  })
  .default({});

const text = () => s.string().maxLength(512);

const operandStatus = s.object({
  name: text(),
  kind: s.enum(OPERAND_KINDS),
  ready: s.enum(['true', 'false']),
  message: s.string().maxLength(32_768).optional(),
  conditions: s.conditions().optional(),
});

const effectiveConfig = s.object({
  trustDomain: text().optional(),
  clusterName: text().optional(),
  bundleConfigMap: text().optional(),
  jwtIssuer: text().optional(),
  sources: s
    .map(s.enum(['ZTWIM', 'Operand', 'Default']))
    .maxProperties(4)
    .describe('Where each value comes from.')
    .optional(),
});

const conflict = s.object({
  field: text(),
  kind: s.enum(OPERAND_KINDS),
  value: text().describe('The value of the operand.'),
  wanted: text().describe('The value that it contradicts.'),
});

const plannedWrite = s.object({ field: text(), source: text(), value: text(), write: s.string().maxLength(1024) });

const status = s.object({
  operands: s.array(operandStatus).maxItems(OPERAND_KINDS.length).listMapBy('kind').optional(),
  effectiveConfig: effectiveConfig.describe('The shared values in use.').optional(),
  conflicts: s.array(conflict).maxItems(16).listType('atomic').optional(),
  migration: s
    .object({
      phase: text(),
      reason: s.string().maxLength(32_768).optional(),
      plan: s.array(plannedWrite).maxItems(16).listType('atomic').optional(),
      backup: text().describe('The ConfigMap with the specs before the migration.').optional(),
    })
    .optional(),
});

/** ZeroTrustWorkloadIdentityManager is the resource that holds the values that all operands share. */
export const ZeroTrustWorkloadIdentityManager = defineResource({
  ...singletonOf('ZeroTrustWorkloadIdentityManager'),
  shortNames: ['ztwim'],
  description: 'ZeroTrustWorkloadIdentityManager holds the configuration that all operands of SPIRE share.',
  spec,
  status,
  columns: [
    ...readyColumns,
    { name: 'TrustDomain', path: '.status.effectiveConfig.trustDomain' },
    { name: 'ClusterName', path: '.status.effectiveConfig.clusterName' },
  ],
});

/** ZeroTrustWorkloadIdentityManager is the type of the object. */
export type ZeroTrustWorkloadIdentityManager = ObjectOf<typeof ZeroTrustWorkloadIdentityManager>;
