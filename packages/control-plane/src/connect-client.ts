import {
  type Client,
  type ClientOptions,
  connect,
  connectionFrom,
  createClient,
  parseKubeconfig,
} from '@bowline/runtime/client';
import type { ControlPlaneAccess, Identity } from './control-plane.ts';
import type { KubeconfigDocument } from './kubeconfig.ts';

/**
 * connectClient creates a client, with its own connection, from a kubeconfig that is not in a file. Close it after use.
 */
export async function connectClient(
  kubeconfig: KubeconfigDocument,
  options: Omit<ClientOptions, 'transport'> = {},
): Promise<Client> {
  const parsed = await parseKubeconfig(JSON.stringify(kubeconfig), kubeconfig['current-context']);
  return createClient({ component: 'control-plane', ...options, transport: connect(connectionFrom(parsed)) });
}

/**
 * clientOf creates a client that acts as an identity, without a socket if the control plane runs in this process. Close
 * it after use.
 */
export async function clientOf(
  controlPlane: Pick<ControlPlaneAccess, 'kubeconfig' | 'transport'>,
  identity: Identity,
  options: Omit<ClientOptions, 'transport'> = {},
): Promise<Client> {
  const transport = await controlPlane.transport?.(identity);
  if (!transport) return connectClient(await controlPlane.kubeconfig(identity), options);
  return createClient({ component: 'control-plane', ...options, transport });
}

/** ClientFor creates a client that acts as the given identity. The caller closes it. */
export type ClientFor = (identity: Identity, component: string) => Promise<Client>;

/** connectClients creates clients that connect over the network. */
export function connectClients(access: Pick<ControlPlaneAccess, 'kubeconfig'>): ClientFor {
  return async (identity, component) => connectClient(await access.kubeconfig(identity), { component });
}
