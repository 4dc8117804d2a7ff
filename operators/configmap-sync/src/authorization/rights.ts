import type { Spec } from '../api/config-map-sync.ts';
import { namedTargets, type TargetSpec } from '../targets/resolve-targets.ts';

/** Right is what somebody must be allowed to do. */
export interface Right {
  readonly verb: 'get' | 'create' | 'update' | 'delete' | 'impersonate';
  readonly resource: 'configmaps' | 'serviceaccounts';
  /** Undefined: in every namespace. */
  readonly namespace?: string | undefined;
  /** Undefined: under any name. */
  readonly name?: string | undefined;
}

/** Where a right holds: undefined members mean everywhere, or under any name. */
type Place = Pick<Right, 'namespace' | 'name'>;

/** RightsSpec is the part of a spec that decides which rights it needs. */
export type RightsSpec = TargetSpec & Pick<Spec, 'direction' | 'serviceAccountName'>;

/**
 * authorRights is what somebody must be allowed to do to ask for a sync: to read its source and to write its copies, by name
 * or, for those of a selector, everywhere, because namespaces come and change their labels later. An account that the spec
 * names is asked in their place, as long as they may act as it.
 */
export function authorRights(spec: RightsSpec, namespace: string): readonly Right[] {
  const { serviceAccountName } = spec;
  if (serviceAccountName !== undefined) {
    return [{ verb: 'impersonate', resource: 'serviceaccounts', namespace, name: serviceAccountName }];
  }
  return [...syncRights(spec, namedTargets(spec)), ...(spec.destinationSelector ? copyRights({}) : [])];
}

/**
 * changeRights is what somebody must be allowed to do to change a sync: what the new spec asks for, and to delete the copies
 * that it gives up. An account that both specs name deletes them itself.
 */
export function changeRights(before: RightsSpec, after: RightsSpec, namespace: string): readonly Right[] {
  const needed = authorRights(after, namespace);
  if (before.serviceAccountName !== undefined && before.serviceAccountName === after.serviceAccountName) return needed;
  const kept = new Set(namedTargets(after).map(keyOf));
  const givenUp: readonly Place[] = [
    ...namedTargets(before).filter((target) => !kept.has(keyOf(target))),
    // Which copies another selector gives up depends on namespaces as they will be.
    ...(before.destinationSelector ? [{}] : []),
  ];
  const rights = [...needed, ...givenUp.map((target) => configMapRight('delete', target))];
  return [...new Map(rights.map((right) => [describeRight(right), right])).values()];
}

/** syncRights is what a sync does to these targets: for whoever it is done. Both ways, the source is a copy too. */
export function syncRights(
  spec: Pick<RightsSpec, 'sourceNamespace' | 'configMapName' | 'direction'>,
  targets: readonly { readonly namespace: string; readonly name: string }[],
): readonly Right[] {
  const source = { namespace: spec.sourceNamespace, name: spec.configMapName };
  if (spec.direction !== 'Bidirectional') return [configMapRight('get', source), ...targets.flatMap(copyRights)];
  return [source, ...targets].flatMap((side) => [configMapRight('get', side), ...copyRights(side)]);
}

/** copyRights is what a sync does to one copy. */
export function copyRights({ namespace, name }: Place): readonly Right[] {
  return [
    // The API server decides about a creation without knowing the name, so that a right by name does not cover it.
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

/** describeRights is what somebody lacks, for people: `create configmaps in namespace b; …`. */
export function describeRights(rights: readonly Right[]): string {
  return rights.map(describeRight).join('; ');
}

function describeRight({ verb, resource, namespace, name }: Right): string {
  const what = name === undefined ? resource : `${resource.slice(0, -1)} ${name}`;
  return `${verb} ${what} in ${namespace === undefined ? 'every namespace' : `namespace ${namespace}`}`;
}
