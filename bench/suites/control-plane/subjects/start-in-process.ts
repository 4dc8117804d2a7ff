import type { EmbeddedControlPlane } from '@bowline/control-plane';
// The entry for those who want one soon: what else the package has is not loaded.
import { startControlPlane } from '@bowline/control-plane/start';

/** startInProcess starts an embedded control plane without a socket: the API server with what looks after namespaces, or all of it. */
export function startInProcess(isWhole: boolean): Promise<EmbeddedControlPlane> {
  const parts = isWhole ? {} : { nodes: 0, scheduler: false, workloads: false };
  return startControlPlane({ kind: 'embedded', listen: false, ...parts });
}
