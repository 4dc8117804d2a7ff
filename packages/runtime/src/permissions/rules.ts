import type { PolicyRule } from '@bowline/kubernetes';
import { OWN_NAMESPACE, type Permission, VERBS } from './permission.ts';

/**
 * PermissionRules holds RBAC rules by the scope that they apply to. The same declarations result in the same rules, in
 * the same order.
 */
export interface PermissionRules {
  /** For the whole cluster: a ClusterRole. */
  readonly cluster: readonly PolicyRule[];
  /** For the manager's own namespace. */
  readonly own: readonly PolicyRule[];
  /** For other namespaces, by name. */
  readonly namespaces: Readonly<Record<string, readonly PolicyRule[]>>;
}

/** Names are the names of the objects that a verb applies to; `any` if it applies to all. */
type Names = ReadonlySet<string> | 'any';

/** Grants holds the names by verb, by resource: nothing is granted twice. */
type Grants = Map<string, Map<string, Names>>;

/**
 * rulesOf merges permissions into rules: one per resource and set of names, without those that a wider rule grants
 * already.
 */
export function rulesOf(permissions: readonly Permission[]): PermissionRules {
  const cluster: Grants = new Map();
  const places = new Map<string, Grants>();
  for (const each of permissions) {
    if (each.namespaces === undefined) add(cluster, each);
    else for (const namespace of each.namespaces) add(entry(places, namespace), each);
  }
  const { [OWN_NAMESPACE]: own = [], ...namespaces } = Object.fromEntries(
    [...places].sort(byFirst).flatMap(([namespace, grants]) => {
      const rules = rendered(without(grants, cluster));
      return rules.length === 0 ? [] : [[namespace, rules] as const];
    }),
  );
  return { cluster: rendered(cluster), own, namespaces };
}

/** permissionsFrom returns the permissions that RBAC rules grant. */
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

function entry<K, V>(map: Map<string, Map<K, V>>, key: string): Map<K, V> {
  const found = map.get(key) ?? new Map<K, V>();
  map.set(key, found);
  return found;
}

function add(grants: Grants, { verbs, group, resource, subresource, names }: Permission): void {
  const path = subresource === undefined ? resource : `${resource}/${subresource}`;
  const byVerb = entry(grants, JSON.stringify([group, path]));
  for (const verb of verbs) {
    const before = byVerb.get(verb) ?? [];
    byVerb.set(verb, before === 'any' || names === undefined ? 'any' : new Set([...before, ...names]));
  }
}

/** without omits what `wider` grants too. */
function without(grants: Grants, wider: Grants): Grants {
  const left: Grants = new Map();
  for (const [id, verbs] of grants) {
    for (const [verb, names] of verbs) {
      const covered = wider.get(id)?.get(verb) ?? new Set();
      if (covered === 'any') continue;
      const others = names === 'any' ? names : new Set([...names].filter((name) => !covered.has(name)));
      if (others === 'any' || others.size > 0) entry(left, id).set(verb, others);
    }
  }
  return left;
}

/** rendered groups the verbs of a resource that apply to the same names. */
function rendered(grants: Grants): readonly PolicyRule[] {
  return [...grants].sort(byFirst).flatMap(([id, verbs]) => {
    const [group, resource] = JSON.parse(id) as [string, string];
    const byNames = new Map<string, string[]>();
    for (const [verb, names] of verbs) {
      const key = names === 'any' ? '' : JSON.stringify([...names].sort());
      byNames.set(key, [...(byNames.get(key) ?? []), verb]);
    }
    return [...byNames].sort(byFirst).map(([names, same]): PolicyRule => {
      const rule = { apiGroups: [group], resources: [resource], verbs: same.sort(byVerb) };
      return names === '' ? rule : { ...rule, resourceNames: JSON.parse(names) as string[] };
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
