import { SelfSubjectAccessReview } from '@bowline/kubernetes';
import type { Client } from '../client/client.ts';
import type { ApiRequest } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { inOwnNamespace, type Permission, permission } from './permission.ts';
import { selectedName } from './selected-name.ts';
import { type Attempt, undeclaredPermission } from './undeclared-permission.ts';

/** RestrictedClientOptions identifies the operator of the client. */
export interface RestrictedClientOptions {
  /** The operator's name, for messages. */
  readonly operator: string;
  /** The namespace that OWN_NAMESPACE stands for. */
  readonly namespace: string;
}

/**
 * restrictedClient returns a client that rejects, without a request to the API server, what no declaration allows. The
 * error, BOWLINE_UNDECLARED_PERMISSION, explains what to declare. It helps authors and is a second line of defence if
 * several operators share one account; the first is the API server.
 */
export function restrictedClient(
  client: Client,
  permissions: readonly Permission[],
  options: RestrictedClientOptions,
): Client {
  const declared = new DeclaredPermissions(permissions, options);
  return client.checked((request) => declared.assert(request));
}

/** Every identity may review its own access. */
const UNIVERSAL_PERMISSIONS: readonly Permission[] = [permission(['create'], SelfSubjectAccessReview)];

/** DeclaredPermissions decides whether a request is declared. */
class DeclaredPermissions {
  readonly #byResource = new Map<string, Permission[]>();
  readonly #operator: string;

  constructor(permissions: readonly Permission[], { operator, namespace }: RestrictedClientOptions) {
    this.#operator = operator;
    for (const each of [...UNIVERSAL_PERMISSIONS, ...permissions]) {
      const id = resourceId(each.group, each.resource, each.subresource);
      const known = this.#byResource.get(id) ?? [];
      known.push(inOwnNamespace(each, namespace));
      this.#byResource.set(id, known);
    }
  }

  assert(request: ApiRequest): void {
    const attempt = attemptOf(request);
    if (!attempt) {
      this.#assertPath(request.path);
      return;
    }
    const { kind, verb, subresource, namespace, name } = attempt;
    const candidates = this.#byResource.get(resourceId(kind.group, kind.plural, subresource)) ?? [];
    const sameVerb = candidates.filter(({ verbs }) => verbs.includes(verb));
    for (const { namespaces, names } of sameVerb) {
      const isHere = namespaces === undefined || (namespace !== undefined && namespaces.includes(namespace));
      if (isHere && (names === undefined || (name !== undefined && names.includes(name)))) return;
    }
    throw undeclaredPermission(this.#operator, attempt, sameVerb);
  }

  #assertPath(path: string): void {
    if (UNIVERSAL_PATHS.test(path)) return;
    throw new BowlineError(
      'BOWLINE_UNDECLARED_PERMISSION',
      `the operator ${this.#operator} may not request ${path} as a raw path: use the client method for its kind, which checks the declared permissions`,
    );
  }
}

/**
 * Paths that every authenticated identity may read: the version and the health of the server, schemas, and discovery,
 * which goes no deeper than a group's version. No segment may begin with a dot or contain an encoded one: a proxy in
 * front of the server might follow it.
 */
const UNIVERSAL_PATHS =
  /^\/(?:version|(?:healthz|livez|readyz)(?:\/[-\w]+)*|openapi(?:\/\w[-.\w]*)*|api(?:\/v\w+)?|apis(?:\/\w[-.\w]*){0,2})\/?(?:\?|$)/;

function resourceId(group: string, resource: string, subresource: string | undefined): string {
  return `${group}/${resource}/${subresource ?? ''}`;
}

/**
 * attemptOf returns a request as the API server's authorization sees it; undefined for a path that no kind describes.
 */
function attemptOf(request: ApiRequest): Attempt | undefined {
  const { verb, resource: kind, subresource, key } = request;
  if (!kind) return undefined;
  const namespace = key?.namespace ?? request.namespace;
  // The words after the first are a path below the subresource: RBAC treats `proxy/metrics` as `proxy`.
  return { verb, kind, subresource: subresource?.split('/', 1)[0], namespace, name: nameIn(request) };
}

/**
 * Returns the name in the URL: none for a creation, unless it is of a subresource; for a collection, the name that it
 * selects.
 */
function nameIn({ verb, subresource, key, path }: ApiRequest): string | undefined {
  if (verb === 'create' && subresource === undefined) return undefined;
  if (key || (verb !== 'list' && verb !== 'watch')) return key?.name;
  return selectedName(new URLSearchParams(path.split('?')[1]).get('fieldSelector') ?? undefined);
}
