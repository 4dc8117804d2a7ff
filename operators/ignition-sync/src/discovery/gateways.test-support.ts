import { INJECTION_ANNOTATIONS, POD_ANNOTATIONS } from '../api/names.ts';
import { SyncProfile } from '../api/sync-profile.ts';
import type { AgentProfile } from '../protocol/agent-profile.ts';
import type { GatewayPod } from './gateway-pod.ts';

/** NAMESPACE is the namespace of the pods of unit tests. */
export const NAMESPACE = 'plant';

/** COMMIT_B and COMMIT_C are commits of unit tests. */
export const COMMIT_B: string = 'b'.repeat(40);
export const COMMIT_C: string = 'c'.repeat(40);

type Annotations = Partial<Record<keyof typeof POD_ANNOTATIONS, string>>;

/** PodChanges are the fields of a pod that a test sets. */
export interface PodChanges extends Partial<Omit<GatewayPod, 'annotations'>> {
  readonly annotations?: Annotations;
}

/** injectedPod returns a running pod of the IgnitionSync `plant` with an agent. */
export function injectedPod(name: string, { annotations = {}, ...changes }: PodChanges = {}): GatewayPod {
  const all: Annotations = { inject: 'true', crName: 'plant', servicePath: 'site', ...annotations };
  const named = Object.entries(all).map(([id, value]) => [POD_ANNOTATIONS[id as keyof typeof POD_ANNOTATIONS], value]);
  return {
    namespace: NAMESPACE,
    name,
    uid: `uid-${name}`,
    annotations: { ...Object.fromEntries(named), [INJECTION_ANNOTATIONS.injected]: 'true' },
    labels: {},
    phase: 'Running',
    hasAgent: true,
    isAgentReady: true,
    serviceAccount: 'gateway',
    node: 'node',
    isTerminating: false,
    ...changes,
  };
}

/** podWithoutAgent returns a pod that requested an agent and has none. */
export function podWithoutAgent(name: string, changes: PodChanges = {}, reason?: string): GatewayPod {
  const { annotations, ...pod } = injectedPod(name, { hasAgent: false, isAgentReady: false, ...changes });
  const { [INJECTION_ANNOTATIONS.injected]: _, ...others } = annotations;
  const notInjected = reason === undefined ? {} : { [INJECTION_ANNOTATIONS.notInjected]: reason };
  return { ...pod, annotations: { ...others, ...notInjected } };
}

/** profileOf returns a SyncProfile as agents read it. */
export function profileOf(changes: object = {}): AgentProfile {
  const mappings = [{ source: 'services/site', destination: 'projects' }];
  return { spec: SyncProfile.withDefaults({ metadata: { name: 'profile' }, spec: { mappings, ...changes } }).spec };
}
