import {
  type Client,
  type ClientOptions,
  connect,
  connectionFrom,
  createClient,
  parseKubeconfig,
} from '@bowline/runtime';
import type { KubeconfigDocument } from './kubeconfig.ts';

/** connectClient makes a client, with a connection of its own, from a kubeconfig that is not in a file. Close it after use. */
export async function connectClient(
  kubeconfig: KubeconfigDocument,
  options: Omit<ClientOptions, 'transport'> = {},
): Promise<Client> {
  const parsed = await parseKubeconfig(JSON.stringify(kubeconfig), kubeconfig['current-context']);
  return createClient({ component: 'control-plane', ...options, transport: connect(connectionFrom(parsed)) });
}
