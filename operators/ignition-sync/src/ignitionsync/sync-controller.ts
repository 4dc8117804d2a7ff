import {
  ConfigMap,
  keyOf,
  Namespace,
  type ObjectKey,
  PersistentVolumeClaim,
  Pod,
  parseKey,
  Role,
  RoleBinding,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { annotationsChanged, anyOf, controller, generationChanged, labelsChanged } from '@bowline/runtime';
import type { CacheReads } from '@bowline/runtime/controller';
import { appliedView, fieldManagerOf } from '@bowline/runtime/writing';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS, FINALIZER, LABELS, labelValueOf, OPERATOR, POD_ANNOTATIONS } from '../api/names.ts';
import { SyncProfile } from '../api/sync-profile.ts';
import { authors } from '../authorization/author-review.ts';
import type { Deps } from '../deps.ts';
import { type GatewayPod, gatewayPodChanged, gatewayPodView } from '../discovery/gateway-pod.ts';

const NAME = 'ignitionsync';

/** Objects of an IgnitionSync have a label with its name. */
const indexes = { label: ({ metadata }: IgnitionSync) => [labelValueOf(metadata?.name ?? '')] };

/**
 * syncController configures the watches that an IgnitionSync depends on, and what the cache keeps. Of pods, only those with
 * annotations of the operator are kept. Secrets are not watched: they are read when they are needed.
 */
export const syncController = controller(IgnitionSync, { name: NAME, concurrency: 5, finalizer: FINALIZER, indexes })
  .using<Deps>()
  .watches(Pod, { view: gatewayPodView, when: gatewayPodChanged, map: (pod, cache) => syncsOf(pod, cache) })
  .watches(ConfigMap, {
    labelSelector: LABELS.crName,
    // Metadata is applied; the reports of agents are read.
    view: appliedView<ConfigMap>(fieldManagerOf(OPERATOR, NAME)),
    map: ({ metadata: { namespace, labels } = {} }, cache) =>
      cache.list(IgnitionSync, { namespace, by: { label: labels?.[LABELS.crName] ?? '' } }).map(keyOf),
  })
  .applies(ConfigMap, { remove: true })
  .owns(PersistentVolumeClaim, { labelSelector: LABELS.crName })
  .owns(Role, { labelSelector: LABELS.crName })
  .owns(RoleBinding, { labelSelector: LABELS.crName })
  .watches(SyncProfile, {
    when: generationChanged,
    map: ({ metadata }, cache) => inNamespace(metadata?.namespace, cache),
  })
  .watches(IgnitionSync, {
    as: 'others',
    when: generationChanged,
    // Pods that name none belong to the only one of the namespace.
    map: ({ metadata }, cache) => {
      const pods = cache.list(Pod, { namespace: metadata?.namespace });
      return pods.some((pod) => crNameOf(pod) === undefined) ? inNamespace(metadata?.namespace, cache) : [];
    },
  })
  .watches(ValidatingWebhookConfiguration, {
    ...authors.configuration,
    map: (_, cache) => cache.list(IgnitionSync).map(keyOf),
  })
  .watches(Namespace, {
    view: 'metadata',
    clusterWideOnly: true,
    when: labelsChanged(),
    map: ({ metadata }, cache) => inNamespace(metadata.name, cache),
  })
  .triggeredBy('git', async function* (signal, { sources }) {
    for await (const key of sources.finished.follow(signal)) yield parseKey(key);
  })
  .triggeredBy('global-pause', async function* (signal, { pause }, cache) {
    for await (const _ of pause.changes.follow(signal)) yield* cache.list(IgnitionSync).map(keyOf);
  })
  .when(anyOf(generationChanged, annotationsChanged(...Object.values(CR_ANNOTATIONS))));

/** SyncContext is the context of a run of the controller. */
export type SyncContext = Parameters<Parameters<(typeof syncController)['reconcile']>[0]>[0];

/** Syncs reads IgnitionSyncs by their indexes. */
type Syncs = CacheReads<{
  readonly [K in (typeof IgnitionSync)['id']]: { readonly value: IgnitionSync; readonly index: keyof typeof indexes };
}>;

function inNamespace(namespace: string | undefined, cache: Syncs): readonly ObjectKey[] {
  return cache.list(IgnitionSync, { namespace }).map(keyOf);
}

/** syncsOf returns the IgnitionSync that a pod names, or all that it may belong to. */
function syncsOf(pod: GatewayPod, cache: Syncs): readonly ObjectKey[] {
  const name = crNameOf(pod);
  return name === undefined ? inNamespace(pod.namespace, cache) : [{ namespace: pod.namespace, name }];
}

function crNameOf({ annotations }: GatewayPod): string | undefined {
  return annotations[POD_ANNOTATIONS.crName] || undefined;
}
