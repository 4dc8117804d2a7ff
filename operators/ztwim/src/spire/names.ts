/** SERVER is the name of the objects of the SPIRE server. */
export const SERVER = 'spire-server';

/** CONTROLLER_MANAGER is the name of the objects of the SPIRE controller manager. */
export const CONTROLLER_MANAGER = 'spire-controller-manager';

/** WEBHOOK is the name of the Service and of the configuration of the webhooks of the SPIRE controller manager. */
export const WEBHOOK = 'spire-controller-manager-webhook';

/** LEADER_ELECTION is the name of the Lease of the SPIRE controller manager, and of the Role for it. */
export const LEADER_ELECTION = 'spire-controller-manager-leader-election';

/** AGENT is the name of the objects of the SPIRE agents. */
export const AGENT = 'spire-agent';

/** CSI_DRIVER is the name of the objects of the SPIFFE CSI driver. */
export const CSI_DRIVER = 'spire-spiffe-csi-driver';

/** OIDC_PROVIDER is the name of the objects of the OIDC discovery provider. */
export const OIDC_PROVIDER = 'spire-spiffe-oidc-discovery-provider';

/** PORTS are the ports of the programs in their pods. */
export const PORTS = {
  server: 8081,
  serverHealth: 8080,
  federation: 8443,
  metrics: 9402,
  controllerManagerMetrics: 8082,
  controllerManagerHealth: 8083,
  controllerManagerWebhook: 9443,
  agentHealth: 9982,
  registrarHealth: 9809,
  oidc: 8443,
  oidcHealth: 8008,
} as const;

/** SERVER_SOCKET is the socket of the API of the server, which its controller manager uses. */
export const SERVER_SOCKET = '/tmp/spire-server/private/api.sock';

/** AGENT_SOCKET is the file name of the Workload API socket. */
export const AGENT_SOCKET = 'spire-agent.sock';

/** BUNDLE_KEY is the key of the trust bundle in its ConfigMap. */
export const BUNDLE_KEY = 'bundle.crt';

/** AUDIENCE is the audience of the tokens with which agents identify their nodes. */
export const AUDIENCE = 'spire-server';
