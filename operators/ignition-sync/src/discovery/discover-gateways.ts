import { shortenName } from '@bowline/machinery';
import { MAX_GATEWAYS } from '../api/ignition-sync-status.ts';
import { INJECTION_ANNOTATIONS, POD_ANNOTATIONS } from '../api/names.ts';
import { gatewayKey } from '../protocol/gateway-key.ts';
import type { GatewayPod } from './gateway-pod.ts';

/** Gateway is a pod with an agent of an IgnitionSync. */
export interface Gateway {
  /** By annotation, label app.kubernetes.io/name or pod name. Several gateways may have the same name. */
  readonly name: string;
  /** The key under which its agent reports. No two gateways have the same. */
  readonly key: string;
  readonly pod: GatewayPod;
}

/** MissingSidecar is a pod that requested an agent and has none. */
export interface MissingSidecar {
  readonly name: string;
  readonly pod: GatewayPod;
  /** Why it has none, and how to fix that. */
  readonly reason: string;
  /** Whether the pod belongs to this IgnitionSync. Otherwise it names none, and this is one of several. */
  readonly isOurs: boolean;
}

/** Discovery holds the pods of an IgnitionSync. */
export interface Discovery {
  /** Running pods with an agent, by name; at most MAX_GATEWAYS. */
  readonly gateways: readonly Gateway[];
  /**
   * Pods with an agent that are not running yet. They are part of the plan, because the agent has to place files before
   * the gateway starts, and they are not waited for.
   */
  readonly starting: readonly Gateway[];
  /** The number of running pods with an agent, also if there are too many. */
  readonly total: number;
  readonly missing: readonly MissingSidecar[];
  /** The ServiceAccounts of all pods of the IgnitionSync in every phase, sorted. */
  readonly serviceAccounts: readonly string[];
  /** The keys under which agents of live pods may report, whether or not they are served. */
  readonly knownKeys: ReadonlySet<string>;
}

/** DiscoverOptions configures a discovery. */
export interface DiscoverOptions {
  /** The name of the IgnitionSync. */
  readonly name: string;
  /** Whether it is the only one in its namespace: pods that name none belong to it. */
  readonly onlyOne: boolean;
}

const ENDED: ReadonlySet<string> = new Set(['Succeeded', 'Failed']);
const NAME_LABEL = 'app.kubernetes.io/name';
const MAX_KEY_LENGTH = 253;
const MAX_NAME_LENGTH = 512;
const MAX_REASON_LENGTH = 400;

/** discoverGateways returns the gateways of an IgnitionSync among the pods of its namespace. */
export function discoverGateways(pods: readonly GatewayPod[], { name, onlyOne }: DiscoverOptions): Discovery {
  const crOf = (pod: GatewayPod): string | undefined => pod.annotations[POD_ANNOTATIONS.crName] || undefined;
  const requests = (pod: GatewayPod): boolean => pod.annotations[POD_ANNOTATIONS.inject] === 'true';
  const isOurs = (pod: GatewayPod): boolean =>
    crOf(pod) === name || (crOf(pod) === undefined && onlyOne && requests(pod));
  const ours = pods.filter(isOurs);
  // The agent of a pod that is being deleted may still report, but starts no sync.
  const existing = withKeys(ours.filter((pod) => !ENDED.has(pod.phase) && !isMissing(pod)));
  const found = existing.filter(({ pod }) => isLive(pod)).sort(byName);
  const running = found.filter(({ pod }) => pod.phase === 'Running');
  const candidates = pods.filter((pod) => isOurs(pod) || (crOf(pod) === undefined && requests(pod)));
  return {
    gateways: running.slice(0, MAX_GATEWAYS),
    starting: found.filter(({ pod }) => pod.phase !== 'Running').slice(0, MAX_GATEWAYS),
    total: running.length,
    missing: candidates
      .filter((pod) => isLive(pod) && isMissing(pod))
      .map((pod) => ({ name: nameOf(pod), pod, reason: missingReason(pod), isOurs: isOurs(pod) }))
      .sort(byName)
      .slice(0, MAX_GATEWAYS),
    serviceAccounts: [...new Set(ours.map(({ serviceAccount }) => serviceAccount))].sort(),
    knownKeys: new Set(existing.flatMap(({ key, pod }) => [key, pod.name])),
  };
}

/** nameOf returns the name of the gateway of a pod. */
function nameOf({ annotations, labels, name }: GatewayPod): string {
  return (annotations[POD_ANNOTATIONS.gatewayName] || labels[NAME_LABEL] || name).slice(0, MAX_NAME_LENGTH);
}

function isLive(pod: GatewayPod): boolean {
  return !ENDED.has(pod.phase) && !pod.isTerminating;
}

/** A pod may bring its own agent, without the webhook. */
function isMissing({ annotations, hasAgent }: GatewayPod): boolean {
  return (
    annotations[POD_ANNOTATIONS.inject] === 'true' &&
    annotations[INJECTION_ANNOTATIONS.injected] === undefined &&
    !hasAgent
  );
}

function missingReason({ annotations }: GatewayPod): string {
  const reason = annotations[INJECTION_ANNOTATIONS.notInjected]?.slice(0, MAX_REASON_LENGTH);
  return reason || 'the injection webhook was not called when the pod was created; recreate the pod';
}

/** withKeys gives each pod a key of its own: pods without a name of their own report by the name of the pod. */
function withKeys(pods: readonly GatewayPod[]): Gateway[] {
  const preferred = pods.map((pod) => gatewayKey(pod.annotations[POD_ANNOTATIONS.gatewayName] || pod.name));
  const uses = new Map<string, number>();
  for (const key of [...preferred, ...pods.map(({ name }) => name)]) uses.set(key, (uses.get(key) ?? 0) + 1);
  return pods.map((pod, index) => {
    const name = nameOf(pod);
    const key = preferred[index] ?? pod.name;
    const isUnique = key === pod.name || uses.get(key) === 1;
    return { name, pod, key: isUnique ? key : shortenName(`${gatewayKey(name)}-${pod.name}`, MAX_KEY_LENGTH) };
  });
}

function byName(a: { name: string; pod: GatewayPod }, b: { name: string; pod: GatewayPod }): number {
  return compare(a.name, b.name) || compare(a.pod.name, b.pod.name);
}

/** The order must not depend on the locale of the process. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
