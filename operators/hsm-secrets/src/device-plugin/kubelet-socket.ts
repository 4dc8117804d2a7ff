import { stat } from 'node:fs/promises';
import { join } from 'node:path';

/** KUBELET_SOCKET is the name of the socket at which plugins register. */
export const KUBELET_SOCKET = 'kubelet.sock';

/**
 * findKubelet returns an identity of kubelet's socket, which changes when it is recreated; undefined if it does not
 * exist.
 */
export async function findKubelet(folder: string): Promise<string | undefined> {
  try {
    const found = await stat(join(folder, KUBELET_SOCKET), { bigint: true });
    // File systems reuse the number of a removed file at once, so it does not suffice.
    return found.isSocket() ? `${found.dev}:${found.ino}:${found.birthtimeNs}` : undefined;
  } catch {
    return undefined;
  }
}
