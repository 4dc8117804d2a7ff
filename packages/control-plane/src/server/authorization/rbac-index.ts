import type { RoleBinding, Subject } from '@bowline/kubernetes';
import { serviceAccountName } from '../authentication/service-account-name.ts';
import type { UserInfo } from '../authentication/user-info.ts';
import type { Storage } from '../storage/storage.ts';
import { keyIn, objectOf, type Stored, splitKey } from '../storage/stored.ts';
import { type CompiledRule, compileRule, objectsIn, rulesIn } from './policy-rule.ts';

/** RBAC_GROUP is the API group of roles and bindings. */
export const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** RBAC_COLLECTIONS holds the collections that store roles and bindings. */
export const RBAC_COLLECTIONS = {
  roles: `roles.${RBAC_GROUP}`,
  clusterRoles: `clusterroles.${RBAC_GROUP}`,
  roleBindings: `rolebindings.${RBAC_GROUP}`,
  clusterRoleBindings: `clusterrolebindings.${RBAC_GROUP}`,
} as const;

/** RoleReference names a role. */
export interface RoleReference {
  readonly kind: string;
  readonly name: string;
  /** The storage key; building it for every check would take longer than the check itself. */
  readonly key: string;
}

/** roleReference returns the reference to a role from an object in a namespace. */
export function roleReference(kind: string, name: string, namespace: string): RoleReference {
  return { kind, name, key: keyIn(kind === 'Role' ? namespace : '', name) };
}

/** Binding grants a role to subjects, in its namespace or, if that is empty, everywhere. */
export interface Binding {
  readonly namespace: string;
  readonly name: string;
  readonly role: RoleReference;
  readonly subjects: readonly Subject[];
}

/** Scope holds the bindings of one namespace, or those that apply everywhere, by subject. */
interface Scope {
  /** Includes ServiceAccounts, by their usernames. */
  readonly users: Map<string, Set<Binding>>;
  readonly groups: Map<string, Set<Binding>>;
}

/**
 * RbacIndex indexes the stored roles and bindings by subject. It watches the storage: a write takes effect before its
 * writer receives the response.
 */
export class RbacIndex implements Disposable {
  readonly #roles = new Map<string, readonly CompiledRule[]>();
  readonly #clusterRoles = new Map<string, readonly CompiledRule[]>();
  readonly #bindings = new Map<string, Binding>();
  /** By namespace; the bindings of the empty namespace apply everywhere. */
  readonly #scopes = new Map<string, Scope>();
  readonly #watches: Disposable[] = [];

  constructor(storage: Storage) {
    const follow = (collection: string, put: (key: string, stored: Stored | undefined) => void): void => {
      for (const stored of storage.select(collection)) put(stored.key, stored);
      this.#watches.push(storage.watch(collection, ({ key, current }) => put(key, current)));
    };
    const { roles, clusterRoles, roleBindings, clusterRoleBindings } = RBAC_COLLECTIONS;
    follow(roles, (key, stored) => putRole(this.#roles, key, stored));
    follow(clusterRoles, (key, stored) => putRole(this.#clusterRoles, key, stored));
    for (const collection of [roleBindings, clusterRoleBindings])
      follow(collection, (key, stored) => this.#putBinding(key, stored));
  }

  /**
   * find searches the bindings of a user in a namespace, those that apply everywhere first. A binding may be visited
   * twice.
   */
  find(user: UserInfo, namespace: string, isIt: (binding: Binding) => boolean): Binding | undefined {
    const everywhere = findIn(this.#scopes.get(''), user, isIt);
    if (everywhere || namespace === '') return everywhere;
    return findIn(this.#scopes.get(namespace), user, isIt);
  }

  /** rulesOf returns the rules of a role; undefined if it does not exist. */
  rulesOf({ kind, key }: RoleReference): readonly CompiledRule[] | undefined {
    if (kind === 'ClusterRole') return this.#clusterRoles.get(key);
    return kind === 'Role' ? this.#roles.get(key) : undefined;
  }

  [Symbol.dispose](): void {
    for (const watch of this.#watches.splice(0)) watch[Symbol.dispose]();
  }

  #putBinding(key: string, stored: Stored | undefined): void {
    const old = this.#bindings.get(key);
    if (old) this.#index(old, (bindings) => bindings.delete(old));
    this.#bindings.delete(key);
    const binding = stored && bindingOf(stored);
    if (!binding) return;
    this.#bindings.set(key, binding);
    this.#index(binding, (bindings) => bindings.add(binding));
  }

  /** Applies a change to the set of bindings of every subject, and removes sets that become empty. */
  #index(binding: Binding, change: (bindings: Set<Binding>) => void): void {
    const { namespace, subjects } = binding;
    const scope = this.#scopes.get(namespace) ?? { users: new Map(), groups: new Map() };
    for (const subject of subjects) {
      const by = subject.kind === 'Group' ? scope.groups : scope.users;
      const name = subject.kind === 'Group' ? subject.name : usernameOf(subject, namespace);
      if (name === undefined) continue;
      const bindings = by.get(name) ?? new Set();
      change(bindings);
      if (bindings.size === 0) by.delete(name);
      else by.set(name, bindings);
    }
    if (scope.users.size + scope.groups.size === 0) this.#scopes.delete(namespace);
    else this.#scopes.set(namespace, scope);
  }
}

/** subjectFor returns the subject of a binding that matches a user. */
export function subjectFor({ subjects, namespace }: Binding, { username, groups }: UserInfo): Subject | undefined {
  return subjects.find((subject) =>
    subject.kind === 'Group' ? groups.includes(subject.name) : usernameOf(subject, namespace) === username,
  );
}

/** accountNamespace returns the namespace of a ServiceAccount in a binding: the binding's own unless specified. */
export function accountNamespace(subject: Subject, namespace: string): string {
  return subject.namespace || namespace;
}

function usernameOf(subject: Subject, namespace: string): string | undefined {
  if (subject.kind === 'User') return subject.name;
  const own = accountNamespace(subject, namespace);
  return subject.kind === 'ServiceAccount' && own !== '' ? serviceAccountName(own, subject.name) : undefined;
}

function findIn(scope: Scope | undefined, user: UserInfo, isIt: (binding: Binding) => boolean): Binding | undefined {
  if (!scope) return undefined;
  const own = findOf(scope.users.get(user.username), isIt);
  if (own) return own;
  for (const group of user.groups) {
    const found = findOf(scope.groups.get(group), isIt);
    if (found) return found;
  }
  return undefined;
}

function findOf(bindings: ReadonlySet<Binding> | undefined, isIt: (binding: Binding) => boolean): Binding | undefined {
  if (bindings) for (const binding of bindings) if (isIt(binding)) return binding;
  return undefined;
}

function putRole(roles: Map<string, readonly CompiledRule[]>, key: string, stored: Stored | undefined): void {
  if (stored) roles.set(key, rulesIn(objectOf(stored)).map(compileRule));
  else roles.delete(key);
}

/** bindingOf parses a stored binding; one that cannot be parsed grants nothing. */
function bindingOf(stored: Stored): Binding | undefined {
  const { namespace, name } = splitKey(stored.key);
  const { roleRef, subjects } = objectOf(stored) as Partial<RoleBinding>;
  if (!roleRef) return undefined;
  const role = roleReference(String(roleRef.kind), String(roleRef.name), namespace);
  return { namespace, name, role, subjects: objectsIn(subjects) };
}
