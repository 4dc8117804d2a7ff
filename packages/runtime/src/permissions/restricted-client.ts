import {
  type KubernetesObject,
  type ObjectKey,
  type Resource,
  ServiceAccount,
  type Status,
  SubjectAccessReview,
} from '@bowline/kubernetes';
import { parseFieldSelector } from '@bowline/machinery';
import type {
  Client,
  DeleteOptions,
  List,
  ListOptions,
  Patch,
  RequestOptions,
  WatchOptions,
  WatchStream,
  WriteGuard,
  WriteOptions,
} from '../client/client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { OWN_NAMESPACE, type Permission } from './permission.ts';
import { type Attempt, undeclaredPermission } from './undeclared-permission.ts';

/** RestrictedOptions says whose client it is. */
export interface RestrictedOptions {
  /** The operator's name, for messages. */
  readonly operator: string;
  /** What OWN_NAMESPACE stands for. */
  readonly namespace: string;
}

/**
 * restricted is a client that refuses, without asking the API server, what no declaration allows. The refusal,
 * BOWLINE_UNDECLARED_PERMISSION, says what to declare. It is a help for authors and a second wall where several operators
 * share one account; the first wall is the API server.
 */
export function restricted(client: Client, permissions: readonly Permission[], options: RestrictedOptions): Client {
  return new RestrictedClient(client, new Declared(permissions, options));
}

/** Declared answers whether an attempt is declared. */
class Declared {
  readonly #byResource = new Map<string, Permission[]>();
  readonly #operator: string;

  constructor(permissions: readonly Permission[], { operator, namespace }: RestrictedOptions) {
    this.#operator = operator;
    for (const each of permissions) {
      const id = resourceId(each.group, each.resource, each.subresource);
      const namespaces = each.namespaces?.map((name) => (name === OWN_NAMESPACE ? namespace : name));
      const known = this.#byResource.get(id);
      if (known) known.push({ ...each, namespaces });
      else this.#byResource.set(id, [{ ...each, namespaces }]);
    }
  }

  assert(attempt: Attempt): void {
    const { kind, verb, subresource, namespace, name } = attempt;
    const candidates = this.#byResource.get(resourceId(kind.group, kind.plural, subresource)) ?? [];
    const sameVerb = candidates.filter(({ verbs }) => verbs.includes(verb));
    for (const { namespaces, names } of sameVerb) {
      const isHere = namespaces === undefined || (namespace !== undefined && namespaces.includes(namespace));
      if (isHere && (names === undefined || (name !== undefined && names.includes(name)))) return;
    }
    throw undeclaredPermission(this.#operator, attempt, sameVerb);
  }

  assertPath(path: string): void {
    // What every authenticated identity may read: discovery, schemas, the version and the health of the server.
    if (/^\/(?:version|healthz|livez|readyz|openapi|apis?(?:\/[^/?]+){0,2}\/?(?:\?|$))/.test(path)) return;
    throw new BowlineError(
      'BOWLINE_UNDECLARED_PERMISSION',
      `the operator ${this.#operator} may not request ${path} as a raw path: use the method for its kind, which checks what is declared`,
    );
  }
}

function resourceId(group: string, resource: string, subresource: string | undefined): string {
  return `${group}/${resource}/${subresource ?? ''}`;
}

class RestrictedClient implements Client {
  readonly #client: Client;
  readonly #declared: Declared;

  constructor(client: Client, declared: Declared) {
    this.#client = client;
    this.#declared = declared;
  }

  async get<T extends KubernetesObject>(
    kind: Resource<T>,
    key: ObjectKey,
    options?: RequestOptions & { subresource?: string },
  ): Promise<T> {
    this.#declared.assert({ verb: 'get', kind, subresource: options?.subresource, ...key });
    return this.#client.get(kind, key, options);
  }

  async find<T extends KubernetesObject>(
    kind: Resource<T>,
    key: ObjectKey,
    options?: RequestOptions,
  ): Promise<T | undefined> {
    this.#declared.assert({ verb: 'get', kind, ...key });
    return this.#client.find(kind, key, options);
  }

  async list<T extends KubernetesObject>(kind: Resource<T>, options?: ListOptions): Promise<List<T>> {
    this.#declared.assert({ verb: 'list', kind, ...selected(options) });
    return this.#client.list(kind, options);
  }

  async watch<T extends KubernetesObject>(kind: Resource<T>, options?: WatchOptions): Promise<WatchStream<T>> {
    this.#declared.assert({ verb: 'watch', kind, ...selected(options) });
    return this.#client.watch(kind, options);
  }

  async create<T extends KubernetesObject>(kind: Resource<T>, object: T, options?: WriteOptions): Promise<T> {
    const { namespace, name } = object.metadata ?? {};
    const subresource = options?.subresource;
    // The URL of a creation names no object, unless a subresource of one is meant.
    this.#declared.assert({
      verb: 'create',
      kind,
      subresource,
      namespace,
      name: subresource === undefined ? undefined : name,
    });
    return this.#client.create(kind, object, options);
  }

  async update<T extends KubernetesObject>(kind: Resource<T>, object: T, options?: WriteOptions): Promise<T> {
    const { namespace, name } = object.metadata ?? {};
    this.#declared.assert({ verb: 'update', kind, subresource: options?.subresource, namespace, name });
    return this.#client.update(kind, object, options);
  }

  async patch<T extends KubernetesObject>(
    kind: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T> {
    this.#declared.assert({ verb: 'patch', kind, subresource: options?.subresource, ...key });
    return this.#client.patch(kind, key, patch, options);
  }

  async delete<T extends KubernetesObject>(
    kind: Resource<T>,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<T | Status> {
    this.#declared.assert({ verb: 'delete', kind, ...key });
    return this.#client.delete(kind, key, options);
  }

  async deleteCollection<T extends KubernetesObject>(
    kind: Resource<T>,
    options?: DeleteOptions & ListOptions,
  ): Promise<void> {
    this.#declared.assert({ verb: 'deletecollection', kind, namespace: options?.namespace });
    return this.#client.deleteCollection(kind, options);
  }

  async requestToken(...[serviceAccount, options]: Parameters<Client['requestToken']>) {
    this.#declared.assert({ verb: 'create', kind: ServiceAccount, subresource: 'token', ...serviceAccount });
    return this.#client.requestToken(serviceAccount, options);
  }

  /** Everybody may ask about themselves. */
  mayI(...[question, options]: Parameters<Client['mayI']>): ReturnType<Client['mayI']> {
    return this.#client.mayI(question, options);
  }

  async maySubject(...[subject, question, options]: Parameters<Client['maySubject']>) {
    this.#declared.assert({ verb: 'create', kind: SubjectAccessReview });
    return this.#client.maySubject(subject, question, options);
  }

  async raw(path: string, options?: RequestOptions & { accept?: string }): Promise<string> {
    this.#declared.assertPath(path);
    return this.#client.raw(path, options);
  }

  guarded(guard: WriteGuard): Client {
    return new RestrictedClient(this.#client.guarded(guard), this.#declared);
  }

  onLeaseLane(): Client {
    return new RestrictedClient(this.#client.onLeaseLane(), this.#declared);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The API server takes the name from the selector when it asks for one object only. */
function selected({ namespace, fieldSelector }: ListOptions = {}): Pick<Attempt, 'namespace' | 'name'> {
  if (!fieldSelector) return { namespace };
  const name = parseFieldSelector(fieldSelector).requirements.find(
    ({ field, operator }) => field === 'metadata.name' && operator === '=',
  );
  return { namespace, name: name?.value };
}
