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

/** connectClient makes a client, with a connection of its own, from a kubeconfig that is not in a file. Close it after use. */
export async function connectClient(
  kubeconfig: KubeconfigDocument,
  options: Omit<ClientOptions, 'transport'> = {},
): Promise<Client> {
  const parsed = await parseKubeconfig(JSON.stringify(kubeconfig), kubeconfig['current-context']);
  return createClient({ component: 'control-plane', ...options, transport: connect(connectionFrom(parsed)) });
}

/** ClientFor makes a client that acts as somebody; whoever asks for it closes it. */
export type ClientFor = (identity: Identity, component: string) => Promise<Client>;

/** connectClients makes clients over the network. */
export function connectClients(access: Pick<ControlPlaneAccess, 'kubeconfig'>): ClientFor {
  return async (identity, component) => connectClient(await access.kubeconfig(identity), { component });
}
