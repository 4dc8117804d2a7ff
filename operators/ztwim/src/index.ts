export { SpiffeCSIDriver } from './api/spiffe-csi-driver.ts';
export { SpireAgent } from './api/spire-agent.ts';
export { SpireOIDCDiscoveryProvider } from './api/spire-oidc-discovery-provider.ts';
export { SpireServer } from './api/spire-server.ts';
export { ZeroTrustWorkloadIdentityManager } from './api/zero-trust-workload-identity-manager.ts';
export { ztwim } from './operator.ts';
export { resolve } from './resolve/resolve.ts';
