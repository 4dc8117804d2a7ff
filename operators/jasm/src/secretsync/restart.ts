import { createHmac } from 'node:crypto';
import { DaemonSet, Deployment, type KubernetesObject, type Resource, StatefulSet } from '@bowline/kubernetes';
import { shortName } from '@bowline/machinery';
import type { LiveClient } from '@bowline/runtime/controller';
import { POD_ANNOTATIONS, RESTARTED_FOR } from '../api/names.ts';
import type { Asker } from '../pods/askers.ts';
import type { Workload } from '../pods/workload.ts';
import type { SecretView } from './secrets.ts';

/** What has a pod template that we know how to change. */
interface Templated extends KubernetesObject {
  readonly spec?: { readonly template?: KubernetesObject | undefined } | undefined;
}

/** RESTARTABLE are the kinds that can be restarted, by name. All are in the group `apps`. */
export const RESTARTABLE: Readonly<Record<string, Resource<Templated>>> = { Deployment, StatefulSet, DaemonSet };

/** RestartWish is who says whether workloads are restarted when a Secret of theirs changes. The first that says it counts. */
export interface RestartWish {
  /** The entry of the pod's annotation. */
  readonly entry: boolean | undefined;
  /** The annotation of the namespace. */
  readonly namespace: string | undefined;
  readonly operator: boolean;
}

/** wantsRestart decides between them. */
export function wantsRestart({ entry, namespace, operator }: RestartWish): boolean {
  if (entry !== undefined) return entry;
  if (namespace === 'true' || namespace === 'false') return namespace === 'true';
  return operator;
}

/** RestartMark is what a pod template gets for one content of a Secret: an annotation that begins with this value, and says when. */
export interface RestartMark {
  readonly annotation: string;
  readonly value: string;
}

/** The value of a mark, and the time of it after that. */
const AT = '@';

/** valueIn is the value of the mark in an annotation. */
function valueIn(annotation: string | undefined): string | undefined {
  return annotation?.split(AT)[0];
}

/** timeIn is when an annotation was written; NaN when it does not say. */
function timeIn(annotation: string | undefined): number {
  return Date.parse(annotation?.split(AT)[1] ?? '');
}

/** What is left of the 63 characters that the name of an annotation has after its slash. */
const LONGEST_NAME = 63 - (RESTARTED_FOR.length - RESTARTED_FOR.indexOf('/') - 1);

/**
 * restartMark is the mark for the content that a Secret has now; undefined when nobody has to be restarted for it. Who may read
 * workloads but not Secrets must not be able to try values until a hash fits, so the Secret's uid, which they cannot see, is the key.
 */
export function restartMark({
  name,
  uid,
  marks: { restartFor },
  appliedHash,
}: Pick<SecretView, 'name' | 'uid' | 'marks' | 'appliedHash'>): RestartMark | undefined {
  if (restartFor === undefined || restartFor !== appliedHash) return undefined;
  const value = createHmac('sha256', uid).update(restartFor).digest('hex').slice(0, 16);
  return { annotation: `${RESTARTED_FOR}${shortName(name, LONGEST_NAME)}`, value };
}

/**
 * Pods have the API server's time and contents ours, and neither is exact: one restart too many does less harm than a pod that keeps
 * the old content.
 */
const CLOCK_SKEW_MS = 60_000;

/** needsRestart is whether an asker has pods that were made before the content that the Secret has now, and were not restarted for it. */
export function needsRestart(
  { workload, pods }: Asker,
  { annotation, value }: RestartMark,
  { writtenAt }: SecretView,
): boolean {
  if (workload.group !== 'apps' || !Object.hasOwn(RESTARTABLE, workload.kind)) return false;
  const since = Date.parse(writtenAt ?? '') + CLOCK_SKEW_MS;
  return pods.some(({ pod }) => valueIn(pod.restartedFor[annotation]) !== value && pod.createdAt <= since);
}

/** RestartLimits say how often a workload is restarted for one Secret. */
interface RestartLimits {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** No sooner than this after the last time. */
  readonly intervalMs: number;
}

/** Restarted is whether a workload was restarted, or in how long it may be. */
export type Restarted = 'restarted' | 'unneeded' | { readonly inMs: number };

/**
 * restart changes the pod template of a workload, unless it is so already, or was changed for another content of the Secret only
 * just. Whose a pod is the pod itself says, and who may create pods may write anything there: `asks` is whether what the template
 * asks is a reason to restart.
 */
export async function restart(
  client: Pick<LiveClient, 'find' | 'patch'>,
  target: { readonly namespace: string; readonly workload: Workload },
  { annotation, value }: RestartMark,
  asks: (annotation: string) => boolean,
  { now, intervalMs }: RestartLimits,
): Promise<Restarted> {
  const { namespace, workload } = target;
  const { kind, name } = workload;
  const resource = RESTARTABLE[kind];
  if (!resource) return 'unneeded';
  const found = await client.find(resource, { namespace, name });
  const { [annotation]: marked, [POD_ANNOTATIONS.secretSync]: asked = '' } =
    found?.spec?.template?.metadata?.annotations ?? {};
  // Gone, or marked before this process began.
  if (!found || valueIn(marked) === value || !asks(asked)) return 'unneeded';
  // A time that lies ahead, or that nobody can read, is not ours: it would hold up restarts for as long as somebody likes.
  const sinceMs = now - timeIn(marked);
  if (sinceMs >= 0 && sinceMs < intervalMs) return { inMs: intervalMs - sinceMs };
  const { uid, resourceVersion } = found.metadata ?? {};
  const mark = `${value}${AT}${new Date(now).toISOString()}`;
  const body = {
    metadata: { uid, resourceVersion },
    spec: { template: { metadata: { annotations: { [annotation]: mark } } } },
  };
  await client.patch(resource, { namespace, name }, { type: 'merge', body });
  return 'restarted';
}
