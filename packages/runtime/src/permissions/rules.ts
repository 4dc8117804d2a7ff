import type { PolicyRule } from '@bowline/kubernetes';
import { OWN_NAMESPACE, type Permission, VERBS } from './permission.ts';

/** PermissionRules are RBAC rules by where they hold. The same declarations give the same rules, in the same order. */
export interface PermissionRules {
  /** Everywhere: for a ClusterRole. */
  readonly cluster: readonly PolicyRule[];
  /** In the manager's own namespace. */
  readonly own: readonly PolicyRule[];
  /** In other namespaces, by name. */
  readonly namespaces: Readonly<Record<string, readonly PolicyRule[]>>;
}

/** Verbs by object names (undefined: any), by resource. */
type Grants = Map<string, Map<string, Set<string>>>;

const ANY_NAME = '';

/** rulesOf merges permissions into rules: one per resource and set of names, without what a wider one grants already. */
export function rulesOf(permissions: readonly Permission[]): PermissionRules {
  const cluster: Grants = new Map();
  const places = new Map<string, Grants>();
  for (const each of permissions) {
    if (each.namespaces === undefined) add(cluster, each);
    else for (const namespace of each.namespaces) add(grantsIn(places, namespace), each);
  }
  for (const grants of [cluster, ...places.values()]) withoutCovered(grants, grants);
  for (const grants of places.values()) withoutCovered(grants, cluster);
  const { [OWN_NAMESPACE]: own = [], ...namespaces } = Object.fromEntries(
    [...places].sort(byFirst).flatMap(([namespace, grants]) => {
      const rules = rendered(grants);
      return rules.length === 0 ? [] : [[namespace, rules]];
    }),
  ) as Record<string, readonly PolicyRule[]>;
  return { cluster: rendered(cluster), own, namespaces };
}

/** permissionsFrom are the permissions that RBAC rules grant. */
export function permissionsFrom(rules: readonly PolicyRule[], namespaces?: readonly string[]): readonly Permission[] {
  return rules.flatMap(({ apiGroups = [], resources = [], resourceNames, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.map((path) => {
        const [resource = '', subresource] = path.split('/');
        return { verbs, group, resource, subresource, names: resourceNames, namespaces };
      }),
    ),
  );
}

function grantsIn(places: Map<string, Grants>, namespace: string): Grants {
  let grants = places.get(namespace);
  if (!grants) {
    grants = new Map();
    places.set(namespace, grants);
  }
  return grants;
}

function add(grants: Grants, { verbs, group, resource, subresource, names }: Permission): void {
  const id = JSON.stringify([group, subresource === undefined ? resource : `${resource}/${subresource}`]);
  const byNames = grants.get(id) ?? new Map<string, Set<string>>();
  grants.set(id, byNames);
  const key = names === undefined ? ANY_NAME : JSON.stringify([...new Set(names)].sort());
  byNames.set(key, new Set([...(byNames.get(key) ?? []), ...verbs]));
}

/** withoutCovered takes away the verbs that `wider` grants for any name. */
function withoutCovered(grants: Grants, wider: Grants): void {
  for (const [id, byNames] of grants) {
    const anyName = wider.get(id)?.get(ANY_NAME);
    for (const verbs of anyName ? byNames.values() : []) {
      if (verbs === anyName) continue;
      for (const verb of anyName ?? []) verbs.delete(verb);
    }
  }
}

function rendered(grants: Grants): readonly PolicyRule[] {
  return [...grants].sort(byFirst).flatMap(([id, byNames]) => {
    const [group, resource] = JSON.parse(id) as [string, string];
    return [...byNames].sort(byFirst).flatMap(([names, verbs]): PolicyRule[] => {
      if (verbs.size === 0) return [];
      const rule = { apiGroups: [group], resources: [resource], verbs: [...verbs].sort(byVerb) };
      return [names === ANY_NAME ? rule : { ...rule, resourceNames: JSON.parse(names) as string[] }];
    });
  });
}

function byFirst([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function byVerb(a: string, b: string): number {
  const order = (verb: string): number => {
    const at = (VERBS as readonly string[]).indexOf(verb);
    return at < 0 ? VERBS.length : at;
  };
  return order(a) - order(b) || (a < b ? -1 : 1);
}
