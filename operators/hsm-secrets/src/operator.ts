import { ClusterRole, DaemonSet, Deployment } from '@bowline/kubernetes';
import { allow, defineOperator, type SetupContext } from '@bowline/runtime';
import { authorityPermissions, CertificateAuthority } from '@bowline/runtime/certificates';
import { KeyStream } from '@bowline/runtime/controller';
import { HSMDevice } from './api/hsm-device.ts';
import { HSMPool } from './api/hsm-pool.ts';
import { HSMSecret } from './api/hsm-secret.ts';
import { LABELS, MANAGER, MANAGER_NAME, OPERATOR } from './api/names.ts';
import { type Config, config } from './config.ts';
import type { Deps } from './deps.ts';
import { deviceController } from './device/controller.ts';
import { MTLS_MANAGED_BY, reconcile as reconcileDevice } from './device/reconcile.ts';
import { discoveryRole } from './guard/discovery-role.ts';
import { accountsBinding, accountsPolicy, reportsBinding, reportsPolicy } from './guard/report-policies.ts';
import { Confirmations } from './memory/confirmations.ts';
import { DeviceProblems } from './memory/device-problems.ts';
import { HsmMetrics } from './metrics.ts';
import { poolController, reportsController } from './pool/controller.ts';
import { reconcile as reconcilePool } from './pool/reconcile.ts';

/** AUTHORITY_SECRET holds the CA of the agents, and the certificate with which the manager connects to them. */
const AUTHORITY_SECRET = 'hsm-secrets-mtls';

/** hsmSecrets is the operator: it finds HSM devices, groups them into pools and delivers their secrets. */
export const hsmSecrets = defineOperator({
  ...OPERATOR,
  resources: [HSMDevice, HSMPool, HSMSecret],
  config,
  setup: setUp,
  controllers: [
    deviceController.reconcile(reconcileDevice),
    reportsController,
    poolController.reconcile(reconcilePool),
  ],
  services: [{ name: 'authority', run: (signal, { authority }) => authority.run(signal) }],
  companions: [discoveryRole, reportsPolicy, reportsBinding, accountsPolicy, accountsBinding],
  permissions: [
    allow(['bind'], ClusterRole, { names: [discoveryRole.name] }),
    ...authorityPermissions(AUTHORITY_SECRET),
  ],
  createdWorkloads: [DaemonSet, Deployment].map((resource) => ({
    resource,
    labelSelector: `${LABELS.managedBy}=${MANAGER}`,
  })),
});

function setUp(context: SetupContext<Config>): Deps {
  const { config, client, namespace, image, nameOf, clock, random, log, signal } = context;
  const confirmations = new Confirmations(clock);
  const wokenPools = new KeyStream();
  return {
    config,
    image: config.image ?? image,
    managerNamespace: namespace,
    discoveryRole: nameOf(discoveryRole),
    guardNames: {
      policies: [nameOf(reportsPolicy), nameOf(accountsPolicy)],
      bindings: [nameOf(reportsBinding), nameOf(accountsBinding)],
    },
    authority: new CertificateAuthority({
      client,
      operator: OPERATOR,
      secret: { namespace, name: AUTHORITY_SECRET },
      certificate: { names: [MANAGER_NAME], usages: ['client'] },
      providedAnnotation: MTLS_MANAGED_BY,
      ...{ clock, random, log, metrics: context.metrics },
    }),
    confirmations,
    deviceProblems: new DeviceProblems(wokenPools),
    wokenPools,
    metrics: new HsmMetrics({
      metrics: context.metrics,
      clock,
      oldestReportAt: () => confirmations.oldest(),
      perObject: config.perObjectMetrics,
      signal,
    }),
  };
}
