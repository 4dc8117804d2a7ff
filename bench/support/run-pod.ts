import type { Api } from './api.ts';
import { MERGE_PATCH } from './requests.ts';

/** RunningPod names a pod and describes its containers. */
export interface RunningPod {
  readonly namespace: string;
  readonly name: string;
  /** The address of the pod. */
  readonly ip: string;
  /** The init containers that keep running and are ready. Defaults to none. */
  readonly sidecars?: readonly string[];
}

/** runPod sets the status that kubelet reports of a pod that is ready. */
export async function runPod(api: Api, { namespace, name, ip, sidecars = [] }: RunningPod): Promise<void> {
  const since = '2026-01-01T00:00:00Z';
  const condition = (type: string): object => ({ type, status: 'True', lastTransitionTime: since });
  const container = (of: string): object => ({
    name: of,
    ready: true,
    started: true,
    restartCount: 0,
    image: 'example.test/agent:1',
    imageID: '',
    state: { running: { startedAt: since } },
  });
  const status = {
    phase: 'Running',
    conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(condition),
    startTime: since,
    hostIP: '192.0.2.1',
    podIP: ip,
    podIPs: [{ ip }],
    ...(sidecars.length === 0 ? {} : { initContainerStatuses: sidecars.map(container) }),
  };
  await api.ok('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}/status`, { status }, MERGE_PATCH);
}
