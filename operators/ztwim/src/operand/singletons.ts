import type { CacheReads } from '@bowline/runtime/controller';
import { SINGLETON } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { resolve } from '../resolve/resolve.ts';
import type { SharedConfig } from '../resolve/shared-config.ts';

interface SourceOf<T> {
  readonly value: T;
  readonly index: never;
}

/** SingletonReads reads the five objects. Every controller has them as sources. */
export type SingletonReads = CacheReads<
  {
    readonly [K in (typeof ZeroTrustWorkloadIdentityManager)['id']]: SourceOf<ZeroTrustWorkloadIdentityManager>;
  } & { readonly [K in (typeof SpireServer)['id']]: SourceOf<SpireServer> } & {
    readonly [K in (typeof SpireAgent)['id']]: SourceOf<SpireAgent>;
  } & { readonly [K in (typeof SpiffeCSIDriver)['id']]: SourceOf<SpiffeCSIDriver> } & {
    readonly [K in (typeof SpireOIDCDiscoveryProvider)['id']]: SourceOf<SpireOIDCDiscoveryProvider>;
  }
>;

/** Singletons are the five objects, and the values that follow from them. */
export interface Singletons {
  readonly parent: ZeroTrustWorkloadIdentityManager | undefined;
  readonly operands: {
    readonly SpireServer: SpireServer | undefined;
    readonly SpireAgent: SpireAgent | undefined;
    readonly SpiffeCSIDriver: SpiffeCSIDriver | undefined;
    readonly SpireOIDCDiscoveryProvider: SpireOIDCDiscoveryProvider | undefined;
  };
  readonly shared: SharedConfig;
}

const KEY = { name: SINGLETON };

/** readSingletons reads the five objects and resolves the values that they share. */
export function readSingletons(reads: SingletonReads): Singletons {
  const parent = reads.get(ZeroTrustWorkloadIdentityManager, KEY);
  const operands = {
    SpireServer: reads.get(SpireServer, KEY),
    SpireAgent: reads.get(SpireAgent, KEY),
    SpiffeCSIDriver: reads.get(SpiffeCSIDriver, KEY),
    SpireOIDCDiscoveryProvider: reads.get(SpireOIDCDiscoveryProvider, KEY),
  };
  return { parent, operands, shared: resolve(parent, operands) };
}
