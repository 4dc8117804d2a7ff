import { apiVersionOf, DaemonSet, Deployment, StatefulSet } from '@bowline/kubernetes';
import { type Sample, show } from '@bowline/runtime';
import type { DisplayState, LocalUse } from '@bowline/runtime/manager';
import { SINGLETON } from './api/names.ts';
import { SpiffeCSIDriver } from './api/spiffe-csi-driver.ts';
import { SpireAgent } from './api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from './api/spire-oidc-discovery-provider.ts';
import { SpireServer } from './api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from './api/zero-trust-workload-identity-manager.ts';
import { ofWorkloads } from './operand/sources.ts';
import { type Workload, workloadCondition } from './operand/workload-health.ts';
import { AGENT, CSI_DRIVER, OIDC_PROVIDER, SERVER } from './spire/names.ts';

/** The default of the setting operandNamespace. */
const NAMESPACE = 'zero-trust-workload-identity-manager';
const metadata = { name: SINGLETON };

const manager = {
  apiVersion: apiVersionOf(ZeroTrustWorkloadIdentityManager),
  kind: ZeroTrustWorkloadIdentityManager.kind,
  metadata,
  spec: {
    namespace: NAMESPACE,
    trustDomain: 'example.io',
    clusterName: 'prod-us-west',
    bundleConfig: { name: 'spire-bundle', namespace: NAMESPACE },
    resources: { requests: { cpu: '100m', memory: '128Mi' } },
    labels: { app: 'spire', 'managed-by': 'ztwim' },
  },
};

const server = {
  apiVersion: apiVersionOf(SpireServer),
  kind: SpireServer.kind,
  metadata,
  spec: {
    logLevel: 'debug',
    jwtIssuer: 'https://oidc-provider.example.io',
    caSubject: { country: 'US', organization: 'Example', commonName: 'example.io' },
    datastore: { databaseType: 'sqlite3' },
    resources: { requests: { cpu: '100m' } },
  },
};

const others = [SpireAgent, SpiffeCSIDriver, SpireOIDCDiscoveryProvider].map((kind) => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata,
  spec: {},
}));

/** samples demonstrate the operator: one central configuration, and the four operands that use it. */
export const samples: readonly Sample[] = [manager, server, ...others];

const { labelSelector } = ofWorkloads;
const inOperandNamespace = (...names: readonly string[]) => names.map((name) => `${NAMESPACE}/${name}`);

/** local configures a local trial. */
export const local: LocalUse = {
  displayedResources: [
    show(StatefulSet, {
      labelSelector,
      awaits: inOperandNamespace(SERVER),
      state: (object) => stateOf({ kind: 'StatefulSet', object }),
    }),
    show(DaemonSet, {
      labelSelector,
      awaits: inOperandNamespace(AGENT, CSI_DRIVER),
      state: (object) => stateOf({ kind: 'DaemonSet', object }),
    }),
    show(Deployment, {
      labelSelector,
      awaits: inOperandNamespace(OIDC_PROVIDER),
      state: (object) => stateOf({ kind: 'Deployment', object }),
    }),
  ],
  suggestedCommands: [
    'kubectl get bowline',
    `kubectl patch ztwim ${SINGLETON} --type merge --patch '{"spec":{"clusterName":"prod-us-east"}}'`,
    'bowline ztwim status',
  ],
};

function stateOf(workload: Workload): DisplayState {
  const { status, message } = workloadCondition(workload);
  return { isReady: status, message };
}
