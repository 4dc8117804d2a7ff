import type { HSMDevice } from '../api/hsm-device.ts';
import { isTestMode } from '../api/names.ts';
import type { DiscoveryPod } from '../pool/discovery-pod.ts';

/** hasAgents reports whether the devices of an HSMDevice have agents at all, and otherwise why they do not. */
export function hasAgents({ metadata, spec }: HSMDevice): true | 'NoPKCS11' | 'Suspended' {
  if (spec.suspend) return 'Suspended';
  const usesLibrary = spec.pkcs11?.libraryPath !== undefined || isTestMode(metadata);
  return usesLibrary && spec.pkcs11?.pinSecret !== undefined ? true : 'NoPKCS11';
}

/**
 * gateProblem returns why no agent may be created on a node yet; undefined if one may. A kubelet to which no plugin
 * offers the device rejects the pod, and its ReplicaSet creates the next one at once.
 */
export function gateProblem(
  nodeName: string,
  pods: readonly DiscoveryPod[],
  daemonSet: { readonly uid: string; readonly templateHash: string | undefined } | undefined,
): string | undefined {
  const onNode = pods.filter((pod) => pod.nodeName === nodeName && pod.isLive && pod.controllerUID === daemonSet?.uid);
  if (!daemonSet || onNode.length === 0) return `no discovery pod runs on ${nodeName}`;
  const current = onNode.filter(({ isTerminating }) => !isTerminating);
  if (current.length === 0) return `the discovery pod on ${nodeName} is being replaced`;
  const updated = current.filter(({ templateHash }) => templateHash === daemonSet.templateHash);
  if (updated.length === 0) return `the discovery pod on ${nodeName} is outdated, and will be replaced`;
  return updated.some(({ isReady }) => isReady) ? undefined : `the discovery pod on ${nodeName} is not ready`;
}
