import { DaemonSet, Deployment, type KubernetesObject, type Resource, StatefulSet } from '@bowline/kubernetes';
import type { PodTemplateSpec } from '@bowline/kubernetes/core-v1';
import type { Child } from '../objects/child.ts';

/** objectsOf returns the rendered objects of a kind. */
export function objectsOf<T extends KubernetesObject>(children: readonly Child[], resource: Resource<T>): readonly T[] {
  return children.filter((each) => each.resource.kind === resource.kind).map(({ object }) => object as T);
}

/** objectOf returns the only rendered object of a kind, or the one with a name. */
export function objectOf<T extends KubernetesObject>(
  children: readonly Child[],
  resource: Resource<T>,
  name?: string,
): T {
  const found = objectsOf(children, resource).filter(({ metadata }) => name === undefined || metadata?.name === name);
  const [only] = found;
  if (only === undefined || found.length > 1) {
    throw new Error(`${found.length} objects of kind ${resource.kind} were rendered, not one`);
  }
  return only;
}

/** Workload is a rendered workload with the template of its pods. */
export interface Workload {
  readonly name: string;
  readonly selector: Readonly<Record<string, string>>;
  readonly template: PodTemplateSpec;
}

/** workloadsOf returns the rendered workloads. */
export function workloadsOf(children: readonly Child[]): readonly Workload[] {
  const found = [
    ...objectsOf(children, StatefulSet),
    ...objectsOf(children, DaemonSet),
    ...objectsOf(children, Deployment),
  ];
  return found.map(({ metadata, spec }) => {
    if (!spec) throw new Error(`workload ${metadata?.name} has no spec`);
    return { name: metadata?.name ?? '', selector: spec.selector.matchLabels ?? {}, template: spec.template };
  });
}

/** templateOf returns the template of the pods of the only rendered workload. */
export function templateOf(children: readonly Child[]): PodTemplateSpec {
  const [only, ...others] = workloadsOf(children);
  if (only === undefined || others.length > 0) throw new Error('not exactly one workload was rendered');
  return only.template;
}
