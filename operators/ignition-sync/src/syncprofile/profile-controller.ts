import { keyOf, Pod } from '@bowline/kubernetes';
import { controller, generationChanged, terminal } from '@bowline/runtime';
import { POD_ANNOTATIONS } from '../api/names.ts';
import { SyncProfile } from '../api/sync-profile.ts';
import { type GatewayPod, gatewayPodChanged, gatewayPodView } from '../discovery/gateway-pod.ts';
import { judgeProfile } from './judge-profile.ts';

const podIndexes = { profile: (pod: GatewayPod) => profileNames(pod) };

/** profileController reports whether each SyncProfile is valid, and how many gateways use it. */
export const profileController = controller(SyncProfile, { name: 'syncprofile', concurrency: 2 })
  .watches(Pod, {
    view: gatewayPodView,
    indexes: podIndexes,
    when: gatewayPodChanged,
    map: (pod) => profileNames(pod).map((name) => ({ namespace: pod.namespace, name })),
  })
  .watches(SyncProfile, {
    as: 'others',
    when: generationChanged,
    // Whether a profile is valid depends on those that it depends on, also indirectly.
    map: ({ metadata }, cache) => cache.list(SyncProfile, { namespace: metadata?.namespace }).map(keyOf),
  })
  .when(generationChanged)
  .reconcile(({ key, list, status }) => {
    const { namespace, name } = key;
    const profiles = new Map(list(SyncProfile, { namespace }).map((each) => [each.metadata?.name ?? '', each.spec]));
    const gateways = list(Pod, { namespace, by: { profile: name } }).filter(isGateway);
    status.set({ gatewayCount: gateways.length });
    const { isAccepted, reason, message } = judgeProfile(name, profiles);
    status.condition('Accepted', isAccepted, reason, message);
    if (!isAccepted) throw terminal(reason, message);
  });

function profileNames({ annotations }: GatewayPod): string[] {
  const name = annotations[POD_ANNOTATIONS.syncProfile]?.trim();
  return name ? [name] : [];
}

function isGateway({ phase, hasAgent, isTerminating }: GatewayPod): boolean {
  return phase === 'Running' && hasAgent && !isTerminating;
}
