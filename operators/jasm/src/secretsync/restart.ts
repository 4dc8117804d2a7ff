import { createHmac } from 'node:crypto';
import { DaemonSet, Deployment, type KubernetesObject, type Resource, StatefulSet } from '@bowline/kubernetes';
import { shortenName } from '@bowline/machinery';
import type { LiveClient } from '@bowline/runtime/controller';
import { POD_ANNOTATIONS, RESTARTED_FOR } from '../api/names.ts';
import type { Requester } from '../pods/requesters.ts';
import type { Workload } from '../pods/workload.ts';
import type { SecretView } from './secrets.ts';

/** An object with a pod template that can be changed. */
interface Templated extends KubernetesObject {
  readonly spec?: { readonly template?: KubernetesObject | undefined } | undefined;
}

/** RESTARTABLE holds the kinds that can be restarted, by name. All are in the group `apps`. */
export const RESTARTABLE: Readonly<Record<string, Resource<Templated>>> = { Deployment, StatefulSet, DaemonSet };

/** RestartSettings holds the settings for restarting workloads when their Secret changes, in order of precedence. */
export interface RestartSettings {
  /** The entry of the pod's annotation. */
  readonly entry: boolean | undefined;
  /** The annotation of the namespace. */
  readonly namespace: string | undefined;
  readonly operator: boolean;
}

/** isRestartEnabled returns the first setting that is set. */
export function isRestartEnabled({ entry, namespace, operator }: RestartSettings): boolean {
  if (entry !== undefined) return entry;
  if (namespace === 'true' || namespace === 'false') return namespace === 'true';
  return operator;
}

/**
 * RestartAnnotation is the annotation that a pod template gets for one content of a Secret: its text starts with this
 * value and ends with the time.
 */
export interface RestartAnnotation {
  readonly annotation: string;
  readonly value: string;
}

/** Separates the value of an annotation from its time. */
const TIME_SEPARATOR = '@';

/** valueIn returns the value in a restart annotation. */
function valueIn(annotation: string | undefined): string | undefined {
  return annotation?.split(TIME_SEPARATOR)[0];
}

/** timeIn returns when a restart annotation was written, or NaN if it contains no time. */
function timeIn(annotation: string | undefined): number {
  return Date.parse(annotation?.split(TIME_SEPARATOR)[1] ?? '');
}

/** The remainder of the 63 characters that the name of an annotation may have after its slash. */
const MAX_NAME_LENGTH = 63 - (RESTARTED_FOR.length - RESTARTED_FOR.indexOf('/') - 1);

/**
 * restartAnnotationFor returns the mark for the current content of a Secret, or undefined if no workload must be
 * restarted for it. A client that may read workloads but not Secrets must not be able to guess values by their hash, so
 * the key is the Secret's uid, which such a client cannot see.
 */
export function restartAnnotationFor({
  name,
  uid,
  operatorAnnotations: { restartFor },
  appliedHash,
}: Pick<SecretView, 'name' | 'uid' | 'operatorAnnotations' | 'appliedHash'>): RestartAnnotation | undefined {
  if (restartFor === undefined || restartFor !== appliedHash) return undefined;
  const value = createHmac('sha256', uid).update(restartFor).digest('hex').slice(0, 16);
  return { annotation: `${RESTARTED_FOR}${shortenName(name, MAX_NAME_LENGTH)}`, value };
}

/**
 * The creation time of pods is from the API server's clock and that of contents from ours, and neither is exact: one
 * restart too many does less harm than a pod that keeps the old content.
 */
const CLOCK_SKEW_MS = 60_000;

/**
 * needsRestart reports whether a workload has pods that were created before the current content of the Secret and were
 * not restarted for it.
 */
export function needsRestart(
  { workload, pods }: Requester,
  { annotation, value }: RestartAnnotation,
  { writtenAt }: SecretView,
): boolean {
  if (workload.group !== 'apps' || !Object.hasOwn(RESTARTABLE, workload.kind)) return false;
  const since = Date.parse(writtenAt ?? '') + CLOCK_SKEW_MS;
  return pods.some(({ pod }) => valueIn(pod.restartedFor[annotation]) !== value && pod.createdAt <= since);
}

/** RestartLimits limits how often a workload is restarted for one Secret. */
interface RestartLimits {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The minimum time between two restarts. */
  readonly intervalMs: number;
}

/** RestartResult reports whether a workload was restarted, or the delay after which it may be. */
export type RestartResult = 'restarted' | 'unneeded' | { readonly inMs: number };

/**
 * restart changes the pod template of a workload, unless it has the mark already or was recently changed for another
 * content of the Secret. A pod itself names its owner, and whoever may create pods may write any owner there:
 * `isRestartRequested` reports whether the annotation of the template is a reason to restart.
 */
export async function restart(
  client: Pick<LiveClient, 'find' | 'patch'>,
  target: { readonly namespace: string; readonly workload: Workload },
  { annotation, value }: RestartAnnotation,
  isRestartRequested: (annotation: string) => boolean,
  { now, intervalMs }: RestartLimits,
): Promise<RestartResult> {
  const { namespace, workload } = target;
  const { kind, name } = workload;
  const resource = RESTARTABLE[kind];
  if (!resource) return 'unneeded';
  const found = await client.find(resource, { namespace, name });
  const { [annotation]: currentAnnotation, [POD_ANNOTATIONS.secretSync]: annotationText = '' } =
    found?.spec?.template?.metadata?.annotations ?? {};
  // Gone, or marked before this process started.
  if (!found || valueIn(currentAnnotation) === value || !isRestartRequested(annotationText)) return 'unneeded';
  // A time in the future, or one that cannot be parsed, is not ours: it could delay restarts indefinitely.
  const sinceMs = now - timeIn(currentAnnotation);
  if (sinceMs >= 0 && sinceMs < intervalMs) return { inMs: intervalMs - sinceMs };
  const { uid, resourceVersion } = found.metadata ?? {};
  const annotationValue = `${value}${TIME_SEPARATOR}${new Date(now).toISOString()}`;
  const body = {
    metadata: { uid, resourceVersion },
    spec: { template: { metadata: { annotations: { [annotation]: annotationValue } } } },
  };
  await client.patch(resource, { namespace, name }, { type: 'merge', body });
  return 'restarted';
}
