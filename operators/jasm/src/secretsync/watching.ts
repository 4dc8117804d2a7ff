import { keyString, Namespace, Pod, Secret } from '@bowline/kubernetes';
import { annotationsChanged, keyed } from '@bowline/runtime';
import { recentAnnotation } from '../annotation/recent-annotations.ts';
import { NAMESPACE_ANNOTATIONS } from '../api/names.ts';
import { type PodView, podChanged, podView } from '../pods/pod-view.ts';
import type { Deps } from './deps.ts';
import { foreignChanged, foreignView } from './foreign-view.ts';
import { NOT_OUR_SECRETS, OUR_SECRETS, secretChanged, secrets } from './secrets.ts';
import { MOST_RUNS } from './store-places.ts';

/** Pods that have ended ask for nothing. */
const LIVING = 'status.phase!=Succeeded,status.phase!=Failed';

/** A store may be tried for minutes before a run gives up. */
const LONGEST_RUN_MS = 600_000;

/** After a store's own retries have failed, the first time and at the latest. */
const BACKOFF = { minMs: 1_000, maxMs: 600_000 };

/** targetsOf are the Secrets that a pod asks for, as `namespace/name`, whether we know their providers or not. */
function targetsOf({ namespace, annotation }: PodView): readonly string[] {
  return recentAnnotation(annotation).requests.map(({ secretName: name }) => keyString({ namespace, name }));
}

/**
 * watching is everything that a Secret depends on, and what is kept of it. Its key is `namespace/name` of the Secret:
 * - pods that ask: metadata, of which little is kept; their status never arrives;
 * - Secrets of ours: a hash instead of their values;
 * - other Secrets: that they are there;
 * - namespaces: their metadata.
 */
export const watching = keyed('secrets', { concurrency: MOST_RUNS, timeoutMs: LONGEST_RUN_MS, backoff: BACKOFF })
  .using<Deps>()
  .watches(Pod, {
    fieldSelector: LIVING,
    view: podView,
    indexes: { asks: targetsOf },
    when: podChanged,
    map: targetsOf,
  })
  .watches(Secret, {
    as: 'managed',
    labelSelector: OUR_SECRETS,
    view: secrets.view,
    when: secretChanged,
    map: (secret) => [keyString(secret)],
  })
  .watches(Secret, {
    as: 'others',
    labelSelector: NOT_OUR_SECRETS,
    view: foreignView,
    when: foreignChanged,
    map: ({ key }, cache) => (cache.list(Pod, { by: { asks: key } }).length > 0 ? [key] : []),
  })
  .watches(Namespace, {
    view: 'metadata',
    clusterWideOnly: true,
    when: annotationsChanged(...Object.values(NAMESPACE_ANNOTATIONS)),
    map: ({ metadata: { name: namespace = '' } }, cache) => cache.list(Pod, { namespace }).flatMap(targetsOf),
  })
  .ensures(Secret)
  .reports(Pod);

/** SecretContext is what a run about a Secret gets. */
export type SecretContext = Parameters<Parameters<(typeof watching)['reconcile']>[0]>[0];

/** watchingPods is what asks: its key is `namespace/name` of a pod. */
export const watchingPods = keyed('annotations', { concurrency: 4 })
  .using<Deps>()
  .watches(Pod, { fieldSelector: LIVING, view: podView, when: podChanged, map: (pod) => [keyString(pod)] })
  .reports(Pod);

/** AnnotationContext is what a run about a pod's annotation gets. */
export type AnnotationContext = Parameters<Parameters<(typeof watchingPods)['reconcile']>[0]>[0];
