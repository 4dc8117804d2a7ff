import {
  apiVersionOf,
  type KubernetesObject,
  keyOf,
  type ObjectKey,
  type Resource,
  type Status,
} from '@bowline/kubernetes';
import { type Clock, type Random, systemClock, systemRandom } from '@bowline/machinery';
import { type ApiRequest, isNotFound } from '../errors/api-error.ts';
import { type Log, silentLog } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Impersonation } from '../transport/connection-config.ts';
import { type TokenSource, tokenCredentials } from '../transport/token-credentials.ts';
import type { Transport } from '../transport/transport.ts';
import { type Call, Caller } from './caller.ts';
import type {
  Client,
  DeleteOptions,
  List,
  ListOptions,
  PagesOptions,
  Patch,
  ReadTextOptions,
  RequestCheck,
  RequestOptions,
  StreamTextOptions,
  TextStream,
  WatchOptions,
  WatchStream,
  WritableResource,
  WriteGuard,
  WriteOptions,
} from './client.ts';
import { clientMetrics } from './client-metrics.ts';
import { pagesOf } from './pages.ts';
import { collectionPath, invalid, listQuery, objectPath, type Query, withQuery, writeQuery } from './paths.ts';
import { canI, canSubject, isReview, requestToken } from './reviews.ts';
import { readText, streamText } from './text.ts';
import { Warnings } from './warnings.ts';
import { watchStream } from './watch-stream.ts';

/** ClientOptions configures a client. */
export interface ClientOptions {
  readonly transport: Transport;
  /** The clock for pauses that the server requests. Defaults to the system's. */
  readonly clock?: Clock | undefined;
  /** The clock for time between machines. Defaults to the system's. */
  readonly wire?: Clock | undefined;
  /** The source of randomness for jitter. Defaults to the system's. */
  readonly random?: Random | undefined;
  /** Defaults to a silent log. */
  readonly log?: Log | undefined;
  /** Defaults to none. */
  readonly metrics?: Metrics | undefined;
  /** The component that uses the client, for the User-Agent. Defaults to `runtime`. */
  readonly component?: string | undefined;
  /** The time limit of a call including its retries. Defaults to 30 s. */
  readonly timeoutMs?: number | undefined;
  /** The identity that every call impersonates. Defaults to the connection's own. */
  readonly impersonate?: Impersonation | undefined;
  /** The field manager of writes that name none. Defaults to the name in the User-Agent. An apply always names one. */
  readonly fieldManager?: string | undefined;
}

/** The version in the User-Agent, shared by all packages of the suite. */
const VERSION = '0.1.0';

const PATCH_TYPES: Readonly<Record<Patch['type'], string>> = {
  // An apply is sent as JSON, which is valid YAML; servers before 1.32 accept only this content type for it.
  apply: 'application/apply-patch+yaml',
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/**
 * createClient creates a client on a transport. Several clients may share one transport, which is the expensive part.
 *
 * A guard (`guarded`) is called before each attempt of every call that changes stored objects: create, update, patch,
 * delete, deleteCollection, dry runs included. It is not called for reviews and token requests, which store nothing.
 *
 * @example
 * const client = createClient({ transport: connect(await loadKubeconfig({ paths })), component: 'copy' });
 * const { items } = await client.list(ConfigMap, { namespace: 'default' });
 */
export function createClient(options: ClientOptions): Client {
  const { transport } = options;
  const log = options.log ?? silentLog;
  return new ApiClient(
    new Caller({
      transport,
      clock: options.clock ?? systemClock,
      wire: options.wire ?? systemClock,
      random: options.random ?? systemRandom,
      log,
      metrics: clientMetrics(options.metrics, transport.host),
      warnings: new Warnings(log),
      userAgent: `bowline/${VERSION} (${options.component ?? 'runtime'})`,
      timeoutMs: options.timeoutMs ?? 30_000,
      impersonate: options.impersonate,
      lane: 'call',
      checks: [],
      guards: [],
    }),
    options.fieldManager,
  );
}

class ApiClient implements Client {
  readonly #caller: Caller;
  readonly fieldManager: string | undefined;

  constructor(caller: Caller, fieldManager: string | undefined) {
    this.#caller = caller;
    this.fieldManager = fieldManager;
  }

  async get<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: RequestOptions & { subresource?: string } = {},
  ): Promise<T> {
    return this.#json<T>(resource, key, 'get', 'GET', objectPath(resource, key, options.subresource), options);
  }

  async find<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: RequestOptions,
  ): Promise<T | undefined> {
    try {
      return await this.get(resource, key, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async list<T extends KubernetesObject>(resource: Resource<T>, options: ListOptions = {}): Promise<List<T>> {
    const { namespace, metadataOnly = false } = options;
    const path = withQuery(collectionPath(resource, namespace), {
      ...listQuery(options),
      limit: options.limit,
      continue: options.continue,
    });
    const list = await this.#caller.json<{ metadata?: List<T>['metadata']; items?: T[] | null }>({
      apiRequest: { verb: 'list', resource, namespace, path },
      method: 'GET',
      write: false,
      accept: metadataOnly ? METADATA_LIST : undefined,
      ...limits(options),
    });
    const apiVersion = apiVersionOf(resource);
    const items = list.items ?? [];
    for (const item of items as { apiVersion?: string; kind?: string }[]) {
      item.apiVersion = apiVersion;
      item.kind = resource.kind;
    }
    return { apiVersion, kind: `${resource.kind}List`, metadata: list.metadata ?? {}, items };
  }

  async watch<T extends KubernetesObject>(resource: Resource<T>, options: WatchOptions = {}): Promise<WatchStream<T>> {
    const { namespace, metadataOnly = false } = options;
    const path = withQuery(collectionPath(resource, namespace), {
      watch: true,
      ...listQuery(options),
      allowWatchBookmarks: options.allowWatchBookmarks,
      sendInitialEvents: options.sendInitialEvents,
      timeoutSeconds: options.timeoutSeconds,
    });
    const request: ApiRequest = { verb: 'watch', resource, namespace, path };
    const response = await this.#caller.stream({
      apiRequest: request,
      method: 'GET',
      write: false,
      accept: metadataOnly ? METADATA : undefined,
      ...limits(options),
    });
    const onUnexpected =
      options.onUnexpected ??
      ((event) => this.#caller.log.warn('skipped an unexpected watch event', { resource: resource.id, ...event }));
    return watchStream<T>({ response, resource, request, metadataOnly, onUnexpected });
  }

  pages<T extends KubernetesObject>(resource: Resource<T>, options?: PagesOptions): AsyncIterable<List<T>> {
    return pagesOf(this, resource, options);
  }

  readText<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: ReadTextOptions,
  ): Promise<string> {
    return readText(this.#caller, resource, key, options);
  }

  streamText<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: StreamTextOptions,
  ): Promise<TextStream> {
    return streamText(this.#caller, resource, key, options);
  }

  async create<T extends KubernetesObject, W extends KubernetesObject = T>(
    resource: WritableResource<T, W>,
    object: NoInfer<W>,
    options: WriteOptions = {},
  ): Promise<T> {
    const { name, namespace } = object.metadata ?? {};
    const { subresource } = options;
    const key = name === undefined ? undefined : { name, namespace };
    // Without the object's name the request would create the object itself.
    const base =
      subresource === undefined
        ? collectionPath(resource, requireNamespace(resource, namespace))
        : objectPath(resource, key ?? { name: '', namespace }, subresource);
    const path = withQuery(base, this.#writeQuery(options));
    return this.#caller.json<T>({
      apiRequest: { verb: 'create', resource, subresource, key, namespace, path },
      method: 'POST',
      body: withTypeMeta(resource, object),
      write: !isReview(resource),
      ...limits(options),
    });
  }

  async update<T extends KubernetesObject, W extends KubernetesObject = T>(
    resource: WritableResource<T, W>,
    object: NoInfer<T | W>,
    options: WriteOptions = {},
  ): Promise<T> {
    const key = keyOf(object);
    const path = withQuery(objectPath(resource, key, options.subresource), this.#writeQuery(options));
    return this.#json<T>(resource, key, 'update', 'PUT', path, options, {
      body: withTypeMeta(resource, object),
      write: true,
    });
  }

  async patch<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    if (patch.type === 'apply' && options.fieldManager === undefined) {
      throw invalid(
        `cannot apply ${resource.kind} ${key.name} without a fieldManager: set one, it will own the applied fields`,
      );
    }
    const path = withQuery(objectPath(resource, key, options.subresource), {
      ...this.#writeQuery(options),
      force: patch.type === 'apply' ? patch.force : undefined,
    });
    const body = patch.type === 'apply' ? withTypeMeta(resource, patch.body) : patch.body;
    const contentType = PATCH_TYPES[patch.type];
    return this.#json<T>(resource, key, 'patch', 'PATCH', path, options, { body, contentType, write: true });
  }

  async delete<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | Status> {
    const body = deleteBody(options);
    return this.#json(resource, key, 'delete', 'DELETE', objectPath(resource, key), options, { body, write: true });
  }

  async deleteCollection<T extends KubernetesObject>(
    resource: Resource<T>,
    options: DeleteOptions & ListOptions = {},
  ): Promise<void> {
    const namespace = requireNamespace(resource, options.namespace);
    const path = withQuery(collectionPath(resource, namespace), {
      ...listQuery(options),
      limit: options.limit,
      continue: options.continue,
    });
    await this.#caller.text({
      apiRequest: { verb: 'deletecollection', resource, namespace, path },
      method: 'DELETE',
      body: deleteBody(options),
      write: true,
      ...limits(options),
    });
  }

  requestToken(...[serviceAccount, options]: Parameters<Client['requestToken']>): ReturnType<Client['requestToken']> {
    return requestToken(this.#caller, serviceAccount, options);
  }

  canI(...[question, options]: Parameters<Client['canI']>): ReturnType<Client['canI']> {
    return canI(this.#caller, question, options);
  }

  canSubject(...[subject, question, options]: Parameters<Client['canSubject']>): ReturnType<Client['canSubject']> {
    return canSubject(this.#caller, subject, question, options);
  }

  raw(path: string, options: RequestOptions & { accept?: string } = {}): Promise<string> {
    return this.#caller.text({
      apiRequest: { verb: 'get', path },
      method: 'GET',
      accept: options.accept,
      write: false,
      ...limits(options),
    });
  }

  guarded(guard: WriteGuard): Client {
    return new ApiClient(this.#caller.with({ guard }), this.fieldManager);
  }

  checked(check: RequestCheck): Client {
    return new ApiClient(this.#caller.with({ check }), this.fieldManager);
  }

  withFieldManager(fieldManager: string): Client {
    return new ApiClient(this.#caller, this.fieldManager ?? fieldManager);
  }

  withToken(token: TokenSource): Client {
    const { transport } = this.#caller;
    if (!transport.withCredentials) {
      throw invalid('cannot use another token: the transport of this client does not implement withCredentials');
    }
    return new ApiClient(this.#caller.as(transport.withCredentials(tokenCredentials(token))), undefined);
  }

  onLeaseLane(): Client {
    return new ApiClient(this.#caller.onLane('lease'), this.fieldManager);
  }

  close(): Promise<void> {
    return this.#caller.transport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #writeQuery(options: WriteOptions): Query {
    return writeQuery({ ...options, fieldManager: options.fieldManager ?? this.fieldManager });
  }

  #json<T>(
    resource: Resource,
    key: ObjectKey,
    verb: string,
    method: Call['method'],
    path: string,
    options: RequestOptions & { subresource?: string | undefined },
    more: Partial<Call> = {},
  ): Promise<T> {
    return this.#caller.json<T>({
      apiRequest: { verb, resource, subresource: options.subresource, key, path },
      method,
      write: false,
      ...limits(options),
      ...more,
    });
  }
}

const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

function limits(options: RequestOptions): Pick<Call, 'signal' | 'timeoutMs'> {
  return { signal: options.signal, timeoutMs: options.timeoutMs };
}

/** withTypeMeta adds the object's apiVersion and kind, which the API requires and callers need not repeat. */
function withTypeMeta(resource: Resource, object: object): object {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object };
}

function requireNamespace(resource: Resource, namespace: string | undefined): string | undefined {
  if (resource.scope === 'Namespaced' && !namespace) {
    throw invalid(`${resource.kind} needs a namespace: the kind is namespaced`);
  }
  return namespace;
}

/** deleteBody holds every option: when a request has a body, the API server does not read options from the query. */
function deleteBody(options: DeleteOptions): object | undefined {
  const { dryRun, preconditions, propagationPolicy, gracePeriodSeconds } = options;
  if (!dryRun && !preconditions && propagationPolicy === undefined && gracePeriodSeconds === undefined)
    return undefined;
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    dryRun: dryRun ? ['All'] : undefined,
    preconditions,
    propagationPolicy,
    gracePeriodSeconds,
  };
}
