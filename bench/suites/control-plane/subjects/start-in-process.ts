import type { EmbeddedControlPlane } from '@bowline/control-plane';
// The fast entry: the rest of the package is not loaded.
import { startControlPlane } from '@bowline/control-plane/start';

/**
 * startInProcess starts an embedded control plane without a socket: the API server with the namespace controllers, or all of it.
 */
export function startInProcess(isWhole: boolean): Promise<EmbeddedControlPlane> {
  const parts = isWhole ? {} : { nodes: 0, scheduler: false, workloads: false };
  return startControlPlane({ kind: 'embedded', listen: false, ...parts });
}
