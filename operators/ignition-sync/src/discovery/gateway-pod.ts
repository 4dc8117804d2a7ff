import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '@bowline/kubernetes';
import { changed, project } from '@bowline/runtime';
import { AGENT_CONTAINER, INJECTION_ANNOTATIONS, POD_ANNOTATIONS } from '../api/names.ts';

/** GatewayPod is what is kept of a pod that has annotations of the operator. */
export interface GatewayPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The annotations that the operator knows. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly phase: string;
  /** Whether it has the container of the agent. */
  readonly hasAgent: boolean;
  readonly isAgentReady: boolean;
  readonly serviceAccount: string;
  /** Empty until the pod is scheduled. */
  readonly node: string;
  readonly isTerminating: boolean;
}

const KNOWN: readonly string[] = [...Object.values(POD_ANNOTATIONS), ...Object.values(INJECTION_ANNOTATIONS)];

/** gatewayPod reads a pod. Undefined if it has none of the annotations of the operator. */
export function gatewayPod({ metadata = {}, spec, status }: Pod): GatewayPod | undefined {
  const { annotations = {} } = metadata;
  const known = KNOWN.filter((name) => annotations[name] !== undefined);
  if (known.length === 0) return undefined;
  const isAgent = ({ name }: { readonly name: string }): boolean => name === AGENT_CONTAINER;
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    annotations: Object.fromEntries(known.map((name) => [name, annotations[name] ?? ''])),
    labels: metadata.labels ?? {},
    phase: status?.phase ?? 'Pending',
    hasAgent: [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].some(isAgent),
    isAgentReady: statuses.find(isAgent)?.ready ?? false,
    serviceAccount: spec?.serviceAccountName ?? 'default',
    node: spec?.nodeName ?? '',
    isTerminating: metadata.deletionTimestamp !== undefined,
  };
}

/** gatewayPodView keeps the pods that have annotations of the operator. */
export const gatewayPodView = project(gatewayPod);

/** gatewayPodChanged passes changes of a pod that can change a gateway: most changes of a pod's status cannot. */
export const gatewayPodChanged = changed(
  (previous: GatewayPod, current: GatewayPod) => !isDeepStrictEqual(previous, current),
);
