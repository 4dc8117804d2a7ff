import { DaemonSet, type Node, type NodeSelectorTerm, type Pod, type Toleration } from '@bowline/kubernetes';
import { isSelected, untolerated } from '../pods/node-selection.ts';
import { podFrom } from '../pods/pod-control.ts';

/** HASH_LABEL names the revision that a DaemonSet's Pod was created from. */
export const HASH_LABEL = 'controller-revision-hash';
/** GENERATION_LABEL counts the changes of the template that a DaemonSet's Pod was created from. */
export const GENERATION_LABEL = 'pod-template-generation';

/** DaemonSet Pods tolerate the taints that evict other Pods from a node or keep them away. */
const TOLERATIONS: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];

const IN_HOST_NETWORK: Toleration = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
};

/** DaemonPlacement reports what a DaemonSet does on a node. */
export interface DaemonPlacement {
  /** Whether a Pod is created there. */
  readonly shouldRun: boolean;
  /** Whether an existing Pod may stay there. */
  readonly shouldContinueRunning: boolean;
}

/** placementOn reports whether a DaemonSet runs on a node. */
export function placementOn(set: DaemonSet, node: Node): DaemonPlacement {
  const spec = set.spec?.template.spec;
  const isOther = spec?.nodeName !== undefined && spec.nodeName !== '' && spec.nodeName !== node.metadata?.name;
  if (isOther || !isSelected(spec, node)) return { shouldRun: false, shouldContinueRunning: false };
  const tolerations = tolerationsOf(set);
  const { taints } = node.spec ?? {};
  return {
    shouldRun: untolerated(tolerations, taints) === undefined,
    shouldContinueRunning: untolerated(tolerations, taints, ['NoExecute']) === undefined,
  };
}

function tolerationsOf(set: DaemonSet): readonly Toleration[] {
  const spec = set.spec?.template.spec;
  const own = spec?.tolerations ?? [];
  const added = spec?.hostNetwork ? [...TOLERATIONS, IN_HOST_NETWORK] : TOLERATIONS;
  const isSame = (a: Toleration, b: Toleration): boolean =>
    a.key === b.key && a.effect === b.effect && a.operator === b.operator;
  return [...own, ...added.filter((each) => !own.some((other) => isSame(each, other)))];
}

/** nodeOf returns the node that a DaemonSet's Pod is on, or is meant for. */
export function nodeOf({ spec }: Pod): string {
  if (spec?.nodeName) return spec.nodeName;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  for (const { matchFields = [] } of terms ?? []) {
    const [name] = matchFields.find(({ key, operator }) => key === 'metadata.name' && operator === 'In')?.values ?? [];
    if (name !== undefined) return name;
  }
  return '';
}

/**
 * isUpdated reports whether a Pod was created from the current template. As in Kubernetes, the generation of the
 * template is enough: a Pod that was adopted from a deleted set with the same number of changes counts as current.
 */
export function isUpdated({ metadata }: Pod, set: DaemonSet, hash: string): boolean {
  const generation = templateGeneration(set);
  const labels = metadata?.labels ?? {};
  return labels[HASH_LABEL] === hash || (generation !== undefined && labels[GENERATION_LABEL] === generation);
}

function templateGeneration({ metadata }: DaemonSet): string | undefined {
  return metadata?.annotations?.['deprecated.daemonset.template.generation'];
}

/** daemonPod returns the Pod for a node; the scheduler can place it only there. */
export function daemonPod(set: DaemonSet, node: string, hash: string): Pod {
  const generation = templateGeneration(set);
  const labels = { [HASH_LABEL]: hash, ...(generation === undefined ? {} : { [GENERATION_LABEL]: generation }) };
  const pod = podFrom(set.spec?.template, { resource: DaemonSet, object: set }, { labels });
  const affinity = pod.spec?.affinity;
  const onNode: NodeSelectorTerm = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] };
  // The set's own node affinity was checked when the node was chosen.
  const required = { nodeSelectorTerms: [onNode] };
  const nodeAffinity = { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required };
  return {
    ...pod,
    spec: {
      ...pod.spec,
      containers: pod.spec?.containers ?? [],
      affinity: { ...affinity, nodeAffinity },
      tolerations: tolerationsOf(set),
    },
  };
}
