import { type EmbeddedControlPlane, startControlPlane } from '@bowline/control-plane';

/** startInProcess starts an embedded control plane without a socket: the API server with what looks after namespaces, or all of it. */
export function startInProcess(isWhole: boolean): Promise<EmbeddedControlPlane> {
  const parts = isWhole ? {} : { nodes: 0, scheduler: false, workloads: false };
  return startControlPlane({ kind: 'embedded', listen: false, ...parts });
}
