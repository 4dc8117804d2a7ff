import { Namespace } from '@bowline/kubernetes';
import { describeProblems } from '@bowline/machinery';
import { namespaceAccessProblems } from '../authorization/namespace-access.ts';
import {
  type NamespaceView,
  namedTargets,
  namespaceView,
  resolveTargets,
  type Target,
} from '../targets/resolve-targets.ts';
import { checkSpec } from '../validation/check-spec.ts';
import { refusal } from './refusal.ts';
import type { SyncContext } from './sync-controller.ts';

/**
 * refuseInvalid ends the run if the spec has a problem that its schema could not reject. Only its author can fix it.
 */
export function refuseInvalid(context: SyncContext): void {
  const { object, key, deps } = context;
  const { spec } = object;
  const problems = [...checkSpec(spec), ...namespaceAccessProblems(spec, key.namespace ?? '', deps.namespaces)];
  if (problems.length > 0) throw refusal(context, 'InvalidSpec', describeProblems(problems));
}

/** targetsOf returns the ConfigMaps that should be copies. */
export function targetsOf(context: SyncContext): readonly Target[] {
  const { spec } = context.object;
  return resolveTargets(spec, spec.destinationSelector ? allNamespaces(context) : namedNamespaces(context));
}

/** allNamespaces returns all namespaces, or undefined if the manager may not read them. */
export function allNamespaces({ list, deps }: SyncContext): readonly NamespaceView[] | undefined {
  return deps.namespaces ? undefined : list(Namespace).map(namespaceView);
}

/** Of a thousand namespaces, a ConfigMapSync without a selector refers to one or two. */
function namedNamespaces({ object, get, deps }: SyncContext): readonly NamespaceView[] | undefined {
  if (deps.namespaces) return undefined;
  return namedTargets(object.spec).flatMap(({ namespace }) => {
    const found = get(Namespace, { name: namespace });
    return found ? [namespaceView(found)] : [];
  });
}
