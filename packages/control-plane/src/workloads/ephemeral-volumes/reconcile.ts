import { keyOf, keyString, PersistentVolumeClaim, Pod, parseKey } from '@bowline/kubernetes';
import { keyed } from '@bowline/runtime';
import { ownerReference } from '@bowline/runtime/writing';
import { foreignClaimProblem } from '../pods/pod-claims.ts';
import { messageOf } from '../pods/pod-control.ts';
import type { WorkloadDeps } from '../pods/workload-events.ts';

const NAME = 'ephemeral_volume';

// Keyed by Pod: the real controller sets no label and no field manager of its own, which `apply` would.
const sources = keyed('ephemeral-volumes')
  .using<WorkloadDeps>()
  .watches(Pod, { map: (pod) => (hasEphemeralVolume(pod) ? [keyString(keyOf(pod))] : []) })
  .watches(PersistentVolumeClaim, {
    map: ({ metadata }) =>
      (metadata.ownerReferences ?? [])
        .filter(({ kind }) => kind === 'Pod')
        .map(({ name }) => keyString({ namespace: metadata.namespace, name })),
  });

type Context = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/** ephemeralVolumes creates the claims of generic ephemeral volumes; they are deleted with their Pod. */
export const ephemeralVolumes = sources.reconcile(reconcile);

async function reconcile({ key, get, live, deps }: Context): Promise<void> {
  const pod = get(Pod, parseKey(key));
  if (!pod || pod.metadata.deletionTimestamp !== undefined) return;
  const { namespace } = pod.metadata;
  for (const { name: volume, ephemeral } of pod.spec?.volumes ?? []) {
    if (!ephemeral?.volumeClaimTemplate) continue;
    const name = `${pod.metadata.name}-${volume}`;
    const { metadata, spec } = ephemeral.volumeClaimTemplate;
    try {
      const found = get(PersistentVolumeClaim, { namespace, name });
      if (found) requireOwn(pod, found);
      else {
        const { labels, annotations } = metadata ?? {};
        const ownerReferences = [ownerReference({ resource: Pod, object: pod })];
        const claim = { metadata: { name, namespace, labels, annotations, ownerReferences }, spec };
        await live.create(PersistentVolumeClaim, claim).catch((error: unknown) => {
          throw new Error(`create PVC ${name}: ${messageOf(error)}`, { cause: error });
        });
      }
    } catch (error) {
      const note = `ephemeral volume ${volume}: ${messageOf(error)}`;
      deps.events.record(NAME, Pod, pod, { type: 'Warning', reason: 'FailedBinding', note });
      throw error;
    }
  }
}

function requireOwn(pod: Pod, claim: PersistentVolumeClaim): void {
  const problem = foreignClaimProblem(pod, claim);
  if (problem !== undefined) throw new Error(problem);
}

function hasEphemeralVolume({ spec }: Pod): boolean {
  return (spec?.volumes ?? []).some(({ ephemeral }) => ephemeral !== undefined);
}
