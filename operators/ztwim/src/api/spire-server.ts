import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource, s } from '@bowline/runtime/resource';
import { datastore } from './datastore.ts';
import { federation } from './federation.ts';
import { flag } from './flag.ts';
import { gatewayField } from './gateway.ts';
import { ingressField, logFields, operandPodFields } from './scheduling.ts';
import { identityCopies, inheritedJwtIssuer } from './shared-fields.ts';
import { readyColumns, singletonOf } from './singleton.ts';
import { upstreamAuthority } from './upstream-authority.ts';

const keyType = () => s.enum(['rsa-2048', 'rsa-4096', 'ec-p256', 'ec-p384']);

// Rules also apply to the default, an empty object, before the defaults of its fields are filled in.
const keyManager = s
  .object({
    diskEnabled: flag().default('true').describe('Whether keys are stored on the persistent volume.'),
    memoryEnabled: flag().default('false').describe('Whether keys are kept in memory only.'),
  })
  .rule('!has(self.diskEnabled) || !has(self.memoryEnabled) || self.diskEnabled != self.memoryEnabled', {
    message: 'exactly one key manager must be enabled; set either diskEnabled or memoryEnabled to "true"',
  });

const caSubject = s.object({
  country: s.string().maxLength(2).describe('The country of the subject of the CA.').optional(),
  organization: s.string().maxLength(64).describe('The organization of the subject of the CA.').optional(),
  commonName: s
    .string()
    .maxLength(255)
    .pattern('^[a-zA-Z0-9 ._-]*$')
    .describe('The common name of the subject of the CA.')
    .optional(),
});

const persistence = s
  .object({
    size: s.string().maxLength(16).pattern('^[1-9][0-9]*Gi$').default('1Gi').describe('The size of the volume.'),
    accessMode: s
      .enum(['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany'])
      .default('ReadWriteOnce')
      .describe('How the volume is mounted.'),
    storageClass: s.string().maxLength(253).default('').describe('The StorageClass. Defaults to that of the cluster.'),
  })
  .immutable(
    'persistence cannot be changed, because the claims of a StatefulSet cannot; resize the PersistentVolumeClaim instead',
  );

const spec = s
  .object({
    ...identityCopies,
    ...logFields,
    jwtIssuer: inheritedJwtIssuer(),
    caValidity: s.duration().default('24h').describe('How long the certificate of the CA is valid.'),
    defaultX509Validity: s.duration().default('1h').describe('How long X.509-SVIDs are valid.'),
    defaultJWTValidity: s.duration().default('5m').describe('How long JWT-SVIDs are valid.'),
    caKeyType: keyType().default('rsa-2048').describe('The type of the key of the CA.'),
    jwtKeyType: keyType().describe('The type of the key of JWT-SVIDs. Defaults to that of the CA.').optional(),
    keyManager: keyManager.default({}).describe('Where private keys are stored.'),
    caSubject: caSubject.default({}).describe('The subject of the certificate of the CA.'),
    persistence: persistence.default({}).describe('The persistent volume.'),
    datastore: datastore.default({}).describe('The database.'),
    replicas: s.integer('int32').min(1).max(5).default(1).describe('How many servers run.'),
    federation: federation.describe('How bundles are exchanged with other trust domains.').optional(),
    upstreamAuthority: upstreamAuthority
      .describe('What signs the certificate of the CA. Defaults to the server itself.')
      .optional(),
    ingress: ingressField(),
    gateway: gatewayField(),
    deletion: s
      .object({
        persistentVolumeClaims: s
          .enum(['Retain', 'Delete'])
          .default('Retain')
          .describe('What happens with the claims when the server is deleted.'),
        backup: s
          .enum(['None', 'VolumeSnapshot'])
          .default('None')
          .describe(
            'Whether claims are deleted only after a snapshot of each is ready. They stay if that takes longer than the deletion may.',
          ),
        volumeSnapshotClassName: s
          .dnsSubdomain()
          .describe('The VolumeSnapshotClass. Defaults to that of the cluster.')
          .optional(),
      })
      .default({})
      .describe('What is deleted with the server.'),
    ...operandPodFields,
  })
  .rule("!has(self.replicas) || self.replicas == 1 || self.datastore.databaseType != 'sqlite3'", {
    message:
      'several servers need a database that they share; set datastore.databaseType to postgres or mysql, or replicas to 1',
    fieldPath: '.replicas',
  })
  .rule(
    "!has(self.gateway) || self.gateway.kind == 'TLSRoute' || !has(self.federation) || (self.federation.bundleEndpoint.profile == 'https_web' && has(self.federation.bundleEndpoint.httpsWeb.servingCert))",
    {
      message: 'clients authenticate the pods, so that a Gateway must not end their connections; set kind to TLSRoute',
      fieldPath: '.gateway.kind',
    },
  )
  .default({});

/** SpireServer is the resource of the SPIRE server. */
export const SpireServer = defineResource({
  ...singletonOf('SpireServer'),
  shortNames: ['spiresrv'],
  description: 'SpireServer configures the SPIRE server and the SPIRE controller manager.',
  spec,
  status: s.object({}),
  columns: readyColumns,
});

/** SpireServer is the type of the object. */
export type SpireServer = ObjectOf<typeof SpireServer>;
