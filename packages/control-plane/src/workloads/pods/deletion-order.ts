import type { Pod } from '@bowline/kubernetes';
import { isReady, readyForMs } from '../pods/pod-state.ts';

const COST = 'controller.kubernetes.io/pod-deletion-cost';
const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/**
 * inDeletionOrder orders Pods so that the first are the least loss: those without a node, then by phase, those that are
 * not ready, with a low deletion cost, with siblings on the same node, recently ready, often restarted, recently
 * created.
 */
export function inDeletionOrder(pods: readonly Pod[], related: readonly Pod[], now: number): readonly Pod[] {
  const onNode = new Map<string, number>();
  for (const { spec } of related) {
    if (spec?.nodeName) onNode.set(spec.nodeName, (onNode.get(spec.nodeName) ?? 0) + 1);
  }
  const ranked = pods.map((pod) => ({ pod, rank: rankOf(pod, onNode, now) }));
  return ranked.toSorted((a, b) => compare(a.rank, b.rank)).map(({ pod }) => pod);
}

/** Pods with the lower rank are deleted first. */
function rankOf(pod: Pod, onNode: ReadonlyMap<string, number>, now: number): readonly (number | string)[] {
  const { spec, status, metadata } = pod;
  const restarts = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  return [
    spec?.nodeName ? 1 : 0,
    PHASES[status?.phase ?? 'Pending'] ?? 0,
    isReady(pod) ? 1 : 0,
    costOf(metadata?.annotations?.[COST]),
    -(onNode.get(spec?.nodeName ?? '') ?? 0),
    // Times are compared by magnitude only, so that scaling up and down does not always delete the same Pods.
    isReady(pod) ? magnitude(readyForMs(pod, now) ?? 0) : 0,
    -Math.max(0, ...restarts.map(({ restartCount }) => restartCount)),
    magnitude(now - Date.parse(metadata?.creationTimestamp ?? '')),
    metadata?.uid ?? '',
  ];
}

function costOf(text: string | undefined): number {
  return text !== undefined && /^(?:0|-?[1-9]\d*)$/.test(text) ? Number(text) : 0;
}

function magnitude(ms: number): number {
  return ms < 1_000 || Number.isNaN(ms) ? 0 : Math.floor(Math.log2(ms / 1_000)) + 1;
}

function compare(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? 0;
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
