import { keyString, Namespace, Pod, Secret } from '@bowline/kubernetes';
import { annotationsChanged, keyed } from '@bowline/runtime';
import { recentAnnotation } from '../annotation/recent-annotations.ts';
import { NAMESPACE_ANNOTATIONS } from '../api/names.ts';
import { type PodView, podChanged, podView } from '../pods/pod-view.ts';
import type { Deps } from './deps.ts';
import { foreignChanged, foreignView } from './foreign-view.ts';
import { MAX_CONCURRENT_RUNS } from './provider-concurrency.ts';
import { NOT_OUR_SECRETS, OUR_SECRETS, secretChanged, secrets } from './secrets.ts';

/** Pods that have terminated request nothing. */
const NOT_TERMINATED = 'status.phase!=Succeeded,status.phase!=Failed';

/** A store may be retried for minutes before a run gives up. */
const MAX_RUN_MS = 600_000;

/** The first and the longest delay after the retries of a store have failed. */
const BACKOFF = { minMs: 1_000, maxMs: 600_000 };

/** targetsOf returns the Secrets that a pod requests, as `namespace/name`, including those of unknown providers. */
function targetsOf({ namespace, annotation }: PodView): readonly string[] {
  return recentAnnotation(annotation).requests.map(({ secretName: name }) => keyString({ namespace, name }));
}

/**
 * secretController configures the watches that a Secret depends on, and what the cache keeps. Its key is
 * `namespace/name` of the Secret:
 * - requesting pods: a small part of their metadata; their status is never transferred;
 * - Secrets of ours: a hash instead of their values;
 * - other Secrets: that they exist;
 * - namespaces: their metadata.
 */
export const secretController = keyed('secrets', {
  concurrency: MAX_CONCURRENT_RUNS,
  timeoutMs: MAX_RUN_MS,
  backoff: BACKOFF,
})
  .using<Deps>()
  .watches(Pod, {
    fieldSelector: NOT_TERMINATED,
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

/** SecretContext is the context of a run for a Secret. */
export type SecretContext = Parameters<Parameters<(typeof secretController)['reconcile']>[0]>[0];

/** podController configures the watch of requesting pods: its key is `namespace/name` of a pod. */
export const podController = keyed('annotations', { concurrency: 4 })
  .using<Deps>()
  .watches(Pod, { fieldSelector: NOT_TERMINATED, view: podView, when: podChanged, map: (pod) => [keyString(pod)] })
  .reports(Pod);

/** AnnotationContext is the context of a run for a pod's annotation. */
export type AnnotationContext = Parameters<Parameters<(typeof podController)['reconcile']>[0]>[0];
