import { ANNOTATIONS, SINGLETON } from '../api/names.ts';
import type { OperandKind } from '../api/operand-kinds.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { OperandOf, SharedObjects } from '../operand/shared-objects.ts';
import type { SharedValues } from '../resolve/shared-config.ts';

type Fields = Readonly<Record<string, unknown>>;

const RESOURCES = { SpireServer, SpireAgent, SpiffeCSIDriver, SpireOIDCDiscoveryProvider };

/** parentWith returns a ZeroTrustWorkloadIdentityManager as the API server stores it. */
export function parentWith(spec: Fields): ZeroTrustWorkloadIdentityManager {
  return ZeroTrustWorkloadIdentityManager.withDefaults({ metadata: { name: SINGLETON }, spec });
}

/** operandWith returns an operand as the API server stores it. */
export function operandWith<K extends OperandKind>(kind: K, spec: Fields = {}, inherited?: SharedValues): OperandOf<K> {
  const annotations = inherited && { [ANNOTATIONS.inherited]: JSON.stringify(inherited) };
  const object = { metadata: { name: SINGLETON, ...(annotations && { annotations }) }, spec };
  // The kinds of the table and of its values are the same.
  return RESOURCES[kind].withDefaults(object) as unknown as OperandOf<K>;
}

/** objectsWith returns the five objects, as far as they are given. */
export function objectsWith(
  parent: ZeroTrustWorkloadIdentityManager | undefined,
  operands: Partial<SharedObjects['operands']> = {},
): SharedObjects {
  const none = {
    SpireServer: undefined,
    SpireAgent: undefined,
    SpiffeCSIDriver: undefined,
    SpireOIDCDiscoveryProvider: undefined,
  };
  return { parent, operands: { ...none, ...operands } };
}
