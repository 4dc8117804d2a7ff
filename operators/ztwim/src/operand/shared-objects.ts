import type { ReadClient } from '@bowline/runtime/webhook';
import { SINGLETON } from '../api/names.ts';
import type { OperandKind } from '../api/operand-kinds.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { Singletons } from './singletons.ts';

/** SharedObjects are the five objects, as far as they exist. */
export type SharedObjects = Pick<Singletons, 'parent' | 'operands'>;

/** OperandOf is the object of a kind of operand. */
export type OperandOf<K extends OperandKind> = NonNullable<SharedObjects['operands'][K]>;

/** readLive reads the five objects from the API server. */
export async function readLive(live: Pick<ReadClient, 'find'>): Promise<SharedObjects> {
  const key = { name: SINGLETON };
  const [parent, server, agent, csi, oidc] = await Promise.all([
    live.find(ZeroTrustWorkloadIdentityManager, key),
    live.find(SpireServer, key),
    live.find(SpireAgent, key),
    live.find(SpiffeCSIDriver, key),
    live.find(SpireOIDCDiscoveryProvider, key),
  ]);
  return {
    parent,
    operands: {
      SpireServer: server,
      SpireAgent: agent,
      SpiffeCSIDriver: csi,
      SpireOIDCDiscoveryProvider: oidc,
    },
  };
}

/** withOperand returns the objects with another version of an operand; undefined means that it does not exist. */
export function withOperand<K extends OperandKind>(
  { parent, operands }: SharedObjects,
  kind: K,
  operand: OperandOf<K> | undefined,
): SharedObjects {
  return { parent, operands: { ...operands, [kind]: operand } };
}
