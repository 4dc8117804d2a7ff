import { describeAccess } from '@bowline/runtime/access';
import type { Spec } from '../api/config-map-sync.ts';
import { namedTargets, type TargetSpec } from '../targets/resolve-targets.ts';

/** Right is an action that a subject must be allowed to perform. */
export interface Right {
  readonly verb: 'get' | 'create' | 'update' | 'delete' | 'impersonate';
  readonly resource: 'configmaps' | 'serviceaccounts';
  /** Undefined: in every namespace. */
  readonly namespace?: string | undefined;
  /** Undefined: under any name. */
  readonly name?: string | undefined;
}

/** Where a right applies: an undefined member means every namespace, or any name. */
type Place = Pick<Right, 'namespace' | 'name'>;

/** RightsSpec is the part of a spec that determines which rights it needs. */
export type RightsSpec = TargetSpec & Pick<Spec, 'direction' | 'serviceAccountName'>;

/**
 * authorRights returns the rights that an author needs to request a sync: to read its source and to write its copies,
 * by name or, for those of a selector, everywhere, because namespaces are created and relabeled later. If the spec
 * names a ServiceAccount, that account is reviewed instead, and the author only needs the right to impersonate it.
 */
export function authorRights(spec: RightsSpec, namespace: string): readonly Right[] {
  const { serviceAccountName } = spec;
  if (serviceAccountName !== undefined) {
    return [{ verb: 'impersonate', resource: 'serviceaccounts', namespace, name: serviceAccountName }];
  }
  return [...syncRights(spec, namedTargets(spec)), ...(spec.destinationSelector ? copyRights({}) : [])];
}

/**
 * changeRights returns the rights that an author needs to change a sync: those of the new spec, and to delete the
 * copies that it gives up. If both specs name the same ServiceAccount, that account deletes them.
 */
export function changeRights(before: RightsSpec, after: RightsSpec, namespace: string): readonly Right[] {
  const needed = authorRights(after, namespace);
  if (before.serviceAccountName !== undefined && before.serviceAccountName === after.serviceAccountName) return needed;
  const kept = new Set(namedTargets(after).map(keyOf));
  const released: readonly Place[] = [
    ...namedTargets(before).filter((target) => !kept.has(keyOf(target))),
    // Which copies a changed selector gives up depends on the future state of namespaces.
    ...(before.destinationSelector ? [{}] : []),
  ];
  const rights = [...needed, ...released.map((target) => configMapRight('delete', target))];
  return [...new Map(rights.map((right) => [describeAccess([right]), right])).values()];
}

/**
 * syncRights returns the rights that a sync of these targets needs, whoever performs it. In a two-way sync, the source
 * is a copy too.
 */
export function syncRights(
  spec: Pick<RightsSpec, 'sourceNamespace' | 'configMapName' | 'direction'>,
  targets: readonly { readonly namespace: string; readonly name: string }[],
): readonly Right[] {
  const source = { namespace: spec.sourceNamespace, name: spec.configMapName };
  if (spec.direction !== 'Bidirectional') return [configMapRight('get', source), ...targets.flatMap(copyRights)];
  return [source, ...targets].flatMap((side) => [configMapRight('get', side), ...copyRights(side)]);
}

/** copyRights returns the rights that a sync needs for one copy. */
export function copyRights({ namespace, name }: Place): readonly Right[] {
  return [
    // The API server authorizes a creation without knowing the name, so a right by name does not cover it.
    configMapRight('create', { namespace }),
    configMapRight('update', { namespace, name }),
    configMapRight('delete', { namespace, name }),
  ];
}

function configMapRight(verb: Right['verb'], { namespace, name }: Place): Right {
  return { verb, resource: 'configmaps', namespace, name };
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
