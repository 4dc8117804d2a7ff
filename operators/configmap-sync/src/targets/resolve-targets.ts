import { anyGlob, labelSelector } from '@bowline/machinery';
import type { MetadataObject } from '@bowline/runtime/cache';
import type { Spec } from '../api/config-map-sync.ts';

/** Target is a ConfigMap that should be a copy. */
export interface Target {
  readonly namespace: string;
  readonly name: string;
  /** Whether only the selector matches it, and no destination names it. */
  readonly selected: boolean;
  /** Why it cannot be written now. */
  readonly problem?: 'NamespaceMissing' | 'NamespaceTerminating' | 'CycleDetected';
}

/** NamespaceView is the part of a Namespace that targets depend on. */
export interface NamespaceView {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly terminating: boolean;
}

/** namespaceView returns the part of a Namespace that targets depend on. */
export function namespaceView({ metadata }: MetadataObject): NamespaceView {
  const { name = '', labels = {}, deletionTimestamp } = metadata;
  return { name, labels, terminating: deletionTimestamp !== undefined };
}

/** TargetSpec is the part of a spec that selects targets. */
export type TargetSpec = Pick<
  Spec,
  | 'sourceNamespace'
  | 'configMapName'
  | 'destinationNamespace'
  | 'destinations'
  | 'destinationSelector'
  | 'excludeNamespaces'
  | 'targetName'
>;

/**
 * resolveTargets returns every ConfigMap that a spec requests as a copy: each once, never the source itself, by
 * namespace and name. If `namespaces` is undefined because they are not visible, a selector matches nothing, and named
 * destinations are assumed to exist. A selector never matches a namespace that is being deleted: nothing can be created
 * there.
 */
export function resolveTargets(spec: TargetSpec, namespaces: readonly NamespaceView[] | undefined): readonly Target[] {
  const targets = new Map<string, Target>();
  const add = (target: Target): void => {
    const id = `${target.namespace}/${target.name}`;
    if (id !== `${spec.sourceNamespace}/${spec.configMapName}` && !targets.has(id)) targets.set(id, target);
  };
  const known = namespaces && new Map(namespaces.map((each) => [each.name, each]));
  for (const { namespace, name } of namedTargets(spec)) {
    const found = known?.get(namespace);
    if (known !== undefined && found === undefined) {
      add({ namespace, name, selected: false, problem: 'NamespaceMissing' });
    } else add({ namespace, name, selected: false, ...terminating(found) });
  }
  for (const namespace of selectedNamespaces(spec, namespaces ?? [])) {
    add({ namespace: namespace.name, name: targetName(spec), selected: true });
  }
  return [...targets.values()].sort((a, b) => byText(a.namespace, b.namespace) || byText(a.name, b.name));
}

/** namedTargets returns the targets that a spec names, whether or not their namespaces exist. */
export function namedTargets(spec: TargetSpec): readonly { readonly namespace: string; readonly name: string }[] {
  const fallback = targetName(spec);
  const { destinationNamespace, destinations = [] } = spec;
  return [
    ...(destinationNamespace === undefined ? [] : [{ namespace: destinationNamespace, name: fallback }]),
    ...destinations.map(({ namespace, name }) => ({ namespace, name: name || fallback })),
  ];
}

function targetName(spec: TargetSpec): string {
  return spec.targetName ?? spec.configMapName;
}

function selectedNamespaces(spec: TargetSpec, namespaces: readonly NamespaceView[]): readonly NamespaceView[] {
  if (spec.destinationSelector === undefined) return [];
  const selector = labelSelector(spec.destinationSelector);
  const isExcluded = anyGlob(spec.excludeNamespaces);
  return namespaces.filter((each) => !each.terminating && selector.matches(each.labels) && !isExcluded(each.name));
}

function terminating(namespace: NamespaceView | undefined): Pick<Target, 'problem'> {
  return namespace?.terminating ? { problem: 'NamespaceTerminating' } : {};
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
