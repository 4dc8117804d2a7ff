import {
  Endpoints,
  Lease,
  Namespace,
  Node,
  PersistentVolumeClaim,
  Pod,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { TokenReview } from '@bowline/kubernetes/authentication-v1';
import { Event } from '@bowline/kubernetes/core-v1';
import {
  allow,
  defineOperator,
  type Operator,
  OWN_NAMESPACE,
  type Permission,
  type SetupContext,
} from '@bowline/runtime';
import { authorityPermissions } from '@bowline/runtime/certificates';
import { agentCleanup } from './agent/clean-up.ts';
import { agentController } from './agent/controller.ts';
import { reconcile as reconcileAgent } from './agent/reconcile.ts';
import { SINGLETON } from './api/names.ts';
import { OPERAND_KINDS } from './api/operand-kinds.ts';
import { ZeroTrustWorkloadIdentityManager } from './api/zero-trust-workload-identity-manager.ts';
import { AUTHORITY_SECRET, createAuthority, OPERATOR } from './certificates/authority.ts';
import { migrateCommands } from './commands/migrate-command.ts';
import { renderCommand } from './commands/render-command.ts';
import { statusCommand } from './commands/status-command.ts';
import { type Config, config } from './config.ts';
import { cleanUp as cleanUpConfig } from './config-controller/clean-up.ts';
import { configController } from './config-controller/controller.ts';
import { reconcile as reconcileConfig } from './config-controller/reconcile.ts';
import { csiCleanup } from './csi/clean-up.ts';
import { csiController } from './csi/controller.ts';
import { reconcile as reconcileCsi } from './csi/reconcile.ts';
import type { Deps } from './deps.ts';
import { ZtwimMetrics } from './metrics.ts';
import { operandNamespace } from './namespaces.ts';
import { oidcCleanup } from './oidc/clean-up.ts';
import { oidcController } from './oidc/controller.ts';
import { reconcile as reconcileOidc } from './oidc/reconcile.ts';
import { cleanUpOperand } from './operand/clean-up.ts';
import { observeRun } from './operand/observe-run.ts';
import { OPERAND_RESOURCES } from './operand/operand-kind.ts';
import { RolloutPace } from './rollout/rollout-pace.ts';
import { local, samples } from './samples.ts';
import { CLAIMS } from './server/backup.ts';
import { serverCleanup } from './server/clean-up.ts';
import { serverController } from './server/controller.ts';
import { reconcile as reconcileServer } from './server/reconcile.ts';
import { CERTIFICATE_REQUEST_VERBS } from './server/server-access.ts';
import { LEADER_ELECTION, WEBHOOK } from './spire/names.ts';
import { CertificateRequest } from './third-party/certificate-request.ts';
import { ClusterFederatedTrustDomain } from './third-party/cluster-federated-trust-domain.ts';
import { ClusterSPIFFEID } from './third-party/cluster-spiffe-id.ts';
import { ClusterStaticEntry } from './third-party/cluster-static-entry.ts';
import { OperatorCondition } from './third-party/operator-condition.ts';
import { VolumeSnapshot } from './third-party/volume-snapshot.ts';
import { webhooks } from './webhooks/webhooks.ts';

const SPIRE_KINDS = [ClusterSPIFFEID, ClusterStaticEntry, ClusterFederatedTrustDomain] as const;

/** ztwim is the operator: it runs SPIRE from one central configuration. */
export const ztwim: Operator = defineOperator({
  ...OPERATOR,
  resources: [ZeroTrustWorkloadIdentityManager, ...OPERAND_KINDS.map((kind) => OPERAND_RESOURCES[kind])],
  dependencies: SPIRE_KINDS,
  namespaces: [operandNamespace],
  config,
  setup: (context: SetupContext<Config>): Deps => ({
    config: context.config,
    namespace: context.namespace,
    metrics: new ZtwimMetrics(context),
    rollouts: new RolloutPace(context.clock),
    authority: createAuthority(context),
  }),
  services: [{ name: 'authority', run: (signal, { authority }, { client }) => authority.run(signal, client) }],
  controllers: [
    configController.reconcile(reconcileConfig).cleanup(cleanUpConfig),
    serverController
      .reconcile(observeRun('SpireServer', reconcileServer))
      .cleanup((context) => cleanUpOperand(context, serverCleanup(context.object))),
    agentController
      .reconcile(observeRun('SpireAgent', reconcileAgent))
      .cleanup((context) => cleanUpOperand(context, agentCleanup)),
    csiController
      .reconcile(observeRun('SpiffeCSIDriver', reconcileCsi))
      .cleanup((context) => cleanUpOperand(context, csiCleanup(context.object))),
    oidcController
      .reconcile(observeRun('SpireOIDCDiscoveryProvider', reconcileOidc))
      .cleanup((context) => cleanUpOperand(context, oidcCleanup)),
  ],
  webhooks,
  permissions: (given: Config) => [
    ...operandPermissions(),
    ...grantedPermissions(given),
    ...authorityPermissions(AUTHORITY_SECRET),
    ...olmPermissions(given),
  ],
  commands: [statusCommand, renderCommand, ...migrateCommands],
  samples,
  local,
});

/** Operands are users' objects: the operator writes into them and deletes them, but never creates them. */
function operandPermissions(): readonly Permission[] {
  const names = [SINGLETON];
  const namespaces = [operandNamespace.name];
  return [
    ...OPERAND_KINDS.map((kind) => allow(['get', 'patch', 'delete'], OPERAND_RESOURCES[kind], { names })),
    allow(['update'], ZeroTrustWorkloadIdentityManager, { names, subresource: 'finalizers' }),
    allow(['list'], Pod),
    allow(['create'], VolumeSnapshot, { namespaces }),
    allow(['delete'], PersistentVolumeClaim, { namespaces, names: CLAIMS }),
  ];
}

function olmPermissions({ operatorCondition: name }: Config): readonly Permission[] {
  if (name === undefined) return [];
  return [allow(['get', 'patch'], OperatorCondition, { namespaces: [OWN_NAMESPACE], names: [name] })];
}

/** The API server lets nobody grant permissions that they do not have. These are the permissions of SPIRE. */
function grantedPermissions({ kubeletAuthorization, certificateRequests }: Config): readonly Permission[] {
  const namespaces = [operandNamespace.name];
  return [
    allow(['create'], TokenReview),
    ...[Endpoints, Namespace, Node, Pod].map((kind) => allow(['get', 'list', 'watch'], kind)),
    allow(['list', 'watch'], ValidatingWebhookConfiguration),
    allow(['get', 'patch'], ValidatingWebhookConfiguration, { names: [WEBHOOK] }),
    allow(['get'], Node, { subresource: kubeletAuthorization }),
    ...SPIRE_KINDS.flatMap((kind) => [
      allow(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'], kind),
      allow(['update'], kind, { subresource: 'finalizers' }),
      allow(['get', 'patch', 'update'], kind, { subresource: 'status' }),
    ]),
    allow(['create'], Lease, { namespaces }),
    allow(['get', 'update'], Lease, { namespaces, names: [LEADER_ELECTION] }),
    allow(['create', 'patch'], Event, { namespaces }),
    ...(certificateRequests ? [allow(CERTIFICATE_REQUEST_VERBS, CertificateRequest, { namespaces })] : []),
  ];
}
