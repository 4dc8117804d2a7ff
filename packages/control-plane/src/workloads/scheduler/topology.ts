import type { LabelSelector, Node, Pod, PodAffinityTerm, TopologySpreadConstraint } from '@bowline/kubernetes';
import { labelSelector } from '@bowline/machinery';
import { isSelected } from '../pods/node-selection.ts';
import type { NodeLoad } from './place.ts';

/** NamespaceLabels returns the labels of a namespace: affinity may select Pods by them. */
export type NamespaceLabels = (namespace: string) => Readonly<Record<string, string>> | undefined;

/**
 * Topology evaluates what a Pod requires of its neighbours, and they of it: required affinity, anti-affinity and even
 * spreading over the domains that a label of nodes defines. It is created once for a Pod and evaluated for each node.
 */
export class Topology {
  readonly #pod: Pod;
  readonly #loads: readonly NodeLoad[];
  readonly #namespaceLabels: NamespaceLabels;
  /** Domains, as label and value, that the anti-affinity of an existing Pod closes to this one. */
  readonly #closed = new Set<string>();

  constructor(pod: Pod, loads: readonly NodeLoad[], namespaceLabels: NamespaceLabels) {
    this.#pod = pod;
    this.#loads = loads;
    this.#namespaceLabels = namespaceLabels;
    for (const { node, pods } of loads) {
      for (const other of pods) {
        for (const term of antiAffinityOf(other)) {
          const domain = domainOf(node, term.topologyKey);
          if (domain !== undefined && this.#selects(term, other, pod)) this.#closed.add(domain);
        }
      }
    }
  }

  /** problemOn returns why the Pod's neighbours forbid a node; undefined if they do not. */
  problemOn(node: Node): string | undefined {
    const labels = Object.entries(node.metadata?.labels ?? {});
    if (labels.some(([key, value]) => this.#closed.has(`${key}=${value}`))) {
      return "node(s) didn't satisfy existing pods anti-affinity rules";
    }
    const affinity = this.#pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    if (!affinity.every((term) => this.#satisfiesAffinity(term, node)))
      return "node(s) didn't match pod affinity rules";
    if (antiAffinityOf(this.#pod).some((term) => this.#hasMatchNear(term, node))) {
      return "node(s) didn't match pod anti-affinity rules";
    }
    for (const constraint of this.#pod.spec?.topologySpreadConstraints ?? []) {
      if (constraint.whenUnsatisfiable === 'DoNotSchedule' && !this.#satisfiesSpread(constraint, node)) {
        return "node(s) didn't match pod topology spread constraints";
      }
    }
    return undefined;
  }

  #hasMatchNear(term: PodAffinityTerm, node: Node): boolean {
    const domain = domainOf(node, term.topologyKey);
    return (
      domain !== undefined &&
      this.#podsIn(term.topologyKey, domain).some((other) => this.#selects(term, this.#pod, other))
    );
  }

  #satisfiesAffinity(term: PodAffinityTerm, node: Node): boolean {
    if (domainOf(node, term.topologyKey) === undefined) return false;
    if (this.#hasMatchNear(term, node)) return true;
    // The first of several Pods with affinity for each other has no Pod to be near to.
    const isFirst = !this.#loads.some(({ pods }) => pods.some((other) => this.#selects(term, this.#pod, other)));
    return isFirst && this.#selects(term, this.#pod, this.#pod);
  }

  #satisfiesSpread(constraint: TopologySpreadConstraint, node: Node): boolean {
    const { topologyKey, maxSkew, minDomains = 1 } = constraint;
    const domain = domainOf(node, topologyKey);
    if (domain === undefined) return false;
    const selector = selectorOf(constraint, this.#pod);
    const counts = new Map<string, number>();
    for (const load of this.#loads) {
      const each = domainOf(load.node, topologyKey);
      if (each === undefined || !isSelected(this.#pod.spec, load.node)) continue;
      const here = load.pods.filter(
        ({ metadata }) =>
          metadata?.namespace === this.#pod.metadata?.namespace &&
          metadata?.deletionTimestamp === undefined &&
          isMatched(selector, metadata?.labels),
      );
      counts.set(each, (counts.get(each) ?? 0) + here.length);
    }
    const minimum = counts.size < minDomains ? 0 : Math.min(...counts.values());
    const own = isMatched(selector, this.#pod.metadata?.labels) ? 1 : 0;
    return (counts.get(domain) ?? 0) + own - minimum <= maxSkew;
  }

  #podsIn(topologyKey: string, domain: string): readonly Pod[] {
    return this.#loads.flatMap(({ node, pods }) => (domainOf(node, topologyKey) === domain ? pods : []));
  }

  /** selects reports whether a term of one Pod selects another. */
  #selects(term: PodAffinityTerm, of: Pod, other: Pod): boolean {
    const { namespaces = [], namespaceSelector } = term;
    const own = of.metadata?.namespace ?? '';
    const namespace = other.metadata?.namespace ?? '';
    const isInNamespaces =
      namespaces.length === 0 && namespaceSelector === undefined
        ? namespace === own
        : namespaces.includes(namespace) || isMatched(namespaceSelector, this.#namespaceLabels(namespace));
    return isInNamespaces && isMatched(selectorOf(term, of), other.metadata?.labels);
  }
}

function antiAffinityOf({ spec }: Pod): readonly PodAffinityTerm[] {
  return spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

function domainOf({ metadata }: Node, key: string): string | undefined {
  const labels = metadata?.labels ?? {};
  return Object.hasOwn(labels, key) ? `${key}=${labels[key] ?? ''}` : undefined;
}

/** selectorOf returns a selector extended with the Pod's own values of the labels in `matchLabelKeys`. */
function selectorOf(
  {
    labelSelector: selector,
    matchLabelKeys = [],
  }: { readonly labelSelector?: LabelSelector | undefined; readonly matchLabelKeys?: readonly string[] | undefined },
  { metadata }: Pod,
): LabelSelector | undefined {
  if (selector === undefined || matchLabelKeys.length === 0) return selector;
  const own = matchLabelKeys.flatMap((key) => {
    const value = metadata?.labels?.[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  return { ...selector, matchLabels: { ...selector.matchLabels, ...Object.fromEntries(own) } };
}

/** A missing selector selects nothing. */
function isMatched(selector: LabelSelector | undefined, labels: Readonly<Record<string, string>> | undefined): boolean {
  return selector !== undefined && labelSelector(selector).matches(labels);
}
