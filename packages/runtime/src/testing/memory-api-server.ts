import {
  apiVersionOf,
  ConfigMap,
  type KubernetesObject,
  Lease,
  Namespace,
  type ObjectKey,
  type Resource,
  Secret,
} from '@bowline/kubernetes';
import { schemaFor } from '@bowline/kubernetes/schemas';
import {
  applyJsonPatch,
  applyMergePatch,
  type Clock,
  describeProblems,
  formatTime,
  isSameJson,
  type JsonObject,
  type JsonPatchOperation,
  parseFieldSelector,
  parseLabelSelector,
  strategicMerge,
  systemClock,
} from '@bowline/machinery';
import { isCustomResource } from '../resource/custom-resource.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';
import { applied, managedFieldsOf, type Writer } from './field-tracking.ts';

interface Stored extends KubernetesObject {
  readonly [field: string]: unknown;
}

interface Watcher {
  readonly id: string;
  readonly namespace: string | undefined;
  readonly matches: (object: Stored) => boolean;
  readonly metadataOnly: boolean;
  readonly push: (line: object | undefined) => void;
}

/** SeenRequest is a request as a test sees it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly user: string;
}

/** RecordedWrite is a request that changed something, or requested a change that had no effect. */
export interface RecordedWrite {
  /** `apply` is a patch by server-side apply; `patch` is any other. */
  readonly verb: 'create' | 'update' | 'apply' | 'patch' | 'delete';
  readonly kind: string;
  readonly key: ObjectKey;
  /** Undefined for the object itself. */
  readonly subresource: string | undefined;
  /** The body of the request: the object, the patch, or the options of a deletion. */
  readonly body: unknown;
  readonly fieldManager: string | undefined;
}

/** MemoryApiServerOptions configures a server. */
export interface MemoryApiServerOptions {
  /** The clock for the timestamps of objects. Defaults to the system's. */
  readonly clock?: Clock | undefined;
  /** The clock for time between machines. Defaults to the system's. */
  readonly wire?: Clock | undefined;
}

/** The part of a request's path that identifies its object. */
interface Target {
  readonly group: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/**
 * An apply to an object that does not exist carries this version, so that it fails if the object exists by then. The
 * real API server compares versions only if there is an object.
 */
const ABSENT_VERSION = '1';

/**
 * MemoryApiServer implements just enough of an API server to run the runtime's own code: objects of the kinds that it
 * is told to serve, optimistic locking, all four patch types with field managers, finalizers, the status subresource
 * and WatchList with selectors. Kinds with a schema are validated. It has no admission, history or garbage collection,
 * and rejects other subresources.
 */
export class MemoryApiServer {
  readonly requests: SeenRequest[] = [];
  readonly writesDone: RecordedWrite[] = [];
  /** Makes a request fail: return the status of the error. */
  refuse: (request: SeenRequest) => number | undefined = () => undefined;
  readonly #served = new Map<string, Resource>();
  readonly #objects = new Map<string, Stored>();
  readonly #watchers = new Set<Watcher>();
  readonly #wire: Clock;
  readonly #clock: Clock;
  #version = 1;
  #uid = 0;

  constructor({ clock = systemClock, wire = systemClock }: MemoryApiServerOptions = {}) {
    this.#clock = clock;
    this.#wire = wire;
    for (const kind of [ConfigMap, Lease, Namespace, Secret]) this.serve(kind);
  }

  /** serve registers a kind; requests for any other kind fail with 404. */
  serve(kind: Resource): void {
    this.#served.set(kindId(kind), kind);
  }

  /** transport returns a transport to the server for one user. */
  transport(user = 'admin'): Transport {
    const close = (): Promise<void> => Promise.resolve();
    return {
      host: 'memory',
      request: async (request) => this.#answer(request, user),
      close,
      [Symbol.asyncDispose]: close,
    };
  }

  /** put stores an object as another client would, overwriting any object of its name. */
  put<T extends KubernetesObject>(kind: Resource<T>, object: T): T {
    const existing = this.#objects.get(objectId(kindId(kind), object.metadata?.namespace, object.metadata?.name));
    // A stored object of a kind has the type of the kind.
    return this.#store(kind, object as KubernetesObject as Stored, existing) as KubernetesObject as T;
  }

  /** get returns a stored object. */
  get<T extends KubernetesObject>(kind: Resource<T>, key: ObjectKey): T | undefined {
    return this.#objects.get(objectId(kindId(kind), key.namespace, key.name)) as T | undefined;
  }

  /** all returns every stored object of a kind. */
  all<T extends KubernetesObject>(kind: Resource<T>): readonly T[] {
    return [...this.#objects]
      .filter(([id]) => id.startsWith(`${kindId(kind)}|`))
      .map(([, object]) => object as KubernetesObject as T);
  }

  /** remove deletes an object as another client would, ignoring finalizers. */
  remove(kind: Resource, key: ObjectKey): void {
    const id = objectId(kindId(kind), key.namespace, key.name);
    const existing = this.#objects.get(id);
    if (existing === undefined) return;
    this.#objects.delete(id);
    const last = {
      ...existing,
      metadata: { ...existing.metadata, resourceVersion: String(++this.#version) },
    } as Stored;
    this.#notify(kindId(kind), 'DELETED', last, existing);
  }

  /** drop ends every watch, as a server that restarts does. */
  drop(): void {
    for (const watcher of this.#watchers) watcher.push(undefined);
    this.#watchers.clear();
  }

  /** writes returns the requests that change something, except for Leases. */
  writes(): string[] {
    return this.requests
      .filter(({ method, path }) => method !== 'GET' && !path.includes('/leases'))
      .map(({ method, path }) => `${method} ${path.split('?')[0]}`);
  }

  #answer(request: TransportRequest, user: string): TransportResponse {
    request.signal?.throwIfAborted();
    request.beforeSend?.();
    const seen = { method: request.method, path: request.path, user };
    this.requests.push(seen);
    const refusal = this.refuse(seen);
    if (refusal !== undefined) return this.#status(new Refusal(refusal));
    try {
      return this.#serve(request);
    } catch (error) {
      if (error instanceof Refusal) return this.#status(error);
      throw error;
    }
  }

  #serve(request: TransportRequest): TransportResponse {
    const url = new URL(request.path, 'http://memory');
    const target = targetOf(url.pathname);
    const { namespace, name, subresource } = target;
    const kind = this.#served.get(`${target.group}/${target.plural}`);
    if (kind === undefined) throw new Refusal(404);
    if (subresource !== undefined && subresource !== 'status') {
      throw new Refusal(501, undefined, `the in-memory API server does not support ${target.plural}/${subresource}`);
    }
    const metadataOnly = request.headers?.accept?.includes('PartialObjectMetadata') ?? false;
    const existing = name === undefined ? undefined : this.#objects.get(objectId(kindId(kind), namespace, name));
    if (request.method === 'GET') {
      if (name !== undefined) return this.#json(200, existing ?? missing(kind, name));
      if (url.searchParams.get('watch')) return this.#watch(request, url, kind, namespace, metadataOnly);
      return this.#list(url, kind, namespace, metadataOnly);
    }
    const body: unknown =
      typeof request.body === 'string' && request.body !== '' ? JSON.parse(request.body) : undefined;
    const written = this.#change(request, url, kind, target, existing, body);
    return this.#json(request.method === 'POST' ? 201 : 200, written);
  }

  #change(
    request: TransportRequest,
    url: URL,
    kind: Resource,
    target: Target,
    existing: Stored | undefined,
    body: unknown,
  ): object {
    const { namespace, subresource } = target;
    const type = request.headers?.['content-type'] ?? '';
    const verb = verbOf(request.method, type);
    const name = target.name ?? nameIn(body);
    const fieldManager = url.searchParams.get('fieldManager') ?? undefined;
    const isDryRun = url.searchParams.get('dryRun') === 'All';
    const by: Writer = {
      manager: fieldManager ?? 'unknown',
      operation: verb === 'apply' ? 'Apply' : 'Update',
      subresource: subresource ?? '',
    };
    const commit = (wanted: Stored, applying?: JsonObject): object =>
      isDryRun ? wanted : this.#commit(kind, wanted, existing, by, applying);
    const outcome = ((): object => {
      if (verb === 'create') {
        if (this.#objects.has(objectId(kindId(kind), namespace, name))) throw new Refusal(409, 'AlreadyExists');
        return commit(placed(withDefaults(kind, body), namespace, name, undefined));
      }
      if (verb === 'apply' && !existing) {
        const { resourceVersion } = (body as Stored).metadata ?? {};
        if (resourceVersion !== undefined && resourceVersion !== ABSENT_VERSION) throw new Refusal(409, 'Conflict');
        return commit(placed(withDefaults(kind, body), namespace, name, undefined), body as JsonObject);
      }
      if (existing === undefined || name === undefined) return missing(kind, name ?? '');
      if (verb === 'delete') return this.#delete(kind, { namespace, name }, existing, body, isDryRun);
      const next = patched(kind, existing, verb, type, body, by);
      checkIdentity(existing, next);
      const whole =
        subresource === 'status'
          ? { ...existing, status: next.status }
          : { ...next, ...('status' in existing ? { status: existing.status } : {}) };
      return commit(placed(whole, namespace, name, existing), verb === 'apply' ? (body as JsonObject) : undefined);
    })();
    if (!isDryRun) {
      const key = namespace === undefined ? { name: name ?? '' } : { namespace, name: name ?? '' };
      this.writesDone.push({ verb, kind: kind.kind, key, subresource, body, fieldManager });
    }
    return outcome;
  }

  /**
   * commit stores an object if it differs from the stored one. An object that is being deleted is removed with its last
   * finalizer.
   */
  #commit(
    kind: Resource,
    wanted: Stored,
    existing: Stored | undefined,
    by: Writer,
    applying: JsonObject | undefined,
  ): object {
    const before: KubernetesObject = existing ?? {};
    checkSchema(kind, wanted, existing);
    const managedFields = managedFieldsOf(before, wanted, kind, by, applying);
    const next = { ...wanted, metadata: { ...wanted.metadata, managedFields } } as Stored;
    if (existing && isSameJson(contentOf(existing), contentOf(next))) return existing;
    const stored = this.#store(kind, next, existing);
    const { deletionTimestamp, finalizers = [], name = '', namespace } = stored.metadata ?? {};
    if (deletionTimestamp !== undefined && finalizers.length === 0) this.remove(kind, { namespace, name });
    return stored;
  }

  #delete(kind: Resource, key: ObjectKey, existing: Stored, body: unknown, isDryRun: boolean): object {
    const { preconditions = {} } = (body ?? {}) as { preconditions?: { uid?: string; resourceVersion?: string } };
    checkIdentity(existing, { metadata: preconditions });
    const { finalizers = [], deletionTimestamp, uid } = existing.metadata ?? {};
    if (finalizers.length > 0) {
      if (deletionTimestamp !== undefined || isDryRun) return existing;
      const metadata = { ...existing.metadata, deletionTimestamp: formatTime(this.#clock.now()) };
      return this.#store(kind, { ...existing, metadata }, existing);
    }
    if (!isDryRun) this.remove(kind, key);
    return { apiVersion: 'v1', kind: 'Status', status: 'Success', details: { name: key.name, uid } };
  }

  #store(kind: Resource, wanted: Stored, existing: Stored | undefined): Stored {
    const { metadata = {} } = wanted;
    const isNewSpec = existing === undefined || !isSameJson(specOf(existing), specOf(wanted));
    const generation = existing?.metadata?.generation ?? (existing ? 1 : (metadata.generation ?? 1) - 1);
    const stored = {
      ...wanted,
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        ...metadata,
        uid: existing?.metadata?.uid ?? metadata.uid ?? `uid-${++this.#uid}`,
        creationTimestamp:
          existing?.metadata?.creationTimestamp ?? metadata.creationTimestamp ?? formatTime(this.#clock.now()),
        generation: isNewSpec ? generation + 1 : generation,
        resourceVersion: String(++this.#version),
      },
    } as Stored;
    this.#objects.set(objectId(kindId(kind), stored.metadata?.namespace, stored.metadata?.name), stored);
    this.#notify(kindId(kind), existing ? 'MODIFIED' : 'ADDED', stored, existing);
    return stored;
  }

  #notify(id: string, type: string, object: Stored, before: Stored | undefined): void {
    for (const watcher of this.#watchers) {
      if (watcher.id !== id) continue;
      if (watcher.namespace !== undefined && watcher.namespace !== object.metadata?.namespace) continue;
      const was = before !== undefined && watcher.matches(before);
      const is = type !== 'DELETED' && watcher.matches(object);
      if (!was && !is) continue;
      const seenAs = is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED';
      watcher.push({ type: seenAs, object: watcher.metadataOnly ? partial(object) : object });
    }
  }

  #watch(
    request: TransportRequest,
    url: URL,
    kind: Resource,
    namespace: string | undefined,
    metadataOnly: boolean,
  ): TransportResponse {
    const lines: (object | undefined)[] = [];
    let wake: () => void = () => {};
    const watcher: Watcher = {
      id: kindId(kind),
      namespace,
      matches: selection(url),
      metadataOnly,
      push: (line) => {
        lines.push(line);
        wake();
      },
    };
    if (url.searchParams.get('sendInitialEvents')) {
      for (const object of this.#select(url, kind, namespace, metadataOnly)) lines.push({ type: 'ADDED', object });
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      const metadata = { resourceVersion: String(this.#version), annotations };
      lines.push({ type: 'BOOKMARK', object: { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata } });
    }
    this.#watchers.add(watcher);
    const end = (): void => {
      this.#watchers.delete(watcher);
      watcher.push(undefined);
    };
    request.signal?.addEventListener('abort', end, { once: true });
    const body = (async function* () {
      for (;;) {
        while (lines.length === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        const batch = lines.splice(0);
        const whole = batch.filter((line) => line !== undefined);
        if (whole.length > 0) yield Buffer.from(`${whole.map((line) => JSON.stringify(line)).join('\n')}\n`);
        if (whole.length < batch.length) return;
      }
    })();
    return this.#response(200, body);
  }

  #list(url: URL, kind: Resource, namespace: string | undefined, metadataOnly: boolean): TransportResponse {
    return this.#json(200, {
      apiVersion: apiVersionOf(kind),
      kind: `${kind.kind}List`,
      metadata: { resourceVersion: String(this.#version) },
      items: this.#select(url, kind, namespace, metadataOnly),
    });
  }

  #select(url: URL, kind: Resource, namespace: string | undefined, metadataOnly: boolean): object[] {
    const matches = selection(url);
    return this.all(kind as Resource<Stored>)
      .filter((object) => matches(object) && (namespace === undefined || namespace === object.metadata?.namespace))
      .map((object) => (metadataOnly ? partial(object) : object));
  }

  #status({ code, reason, message, details }: Refusal): TransportResponse {
    return this.#json(code, { apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason, details, message });
  }

  #json(status: number, value: object): TransportResponse {
    const chunk = Buffer.from(JSON.stringify(value));
    return this.#response(
      status,
      (async function* () {
        yield chunk;
      })(),
    );
  }

  #response(status: number, body: AsyncIterable<Uint8Array>): TransportResponse {
    return {
      status,
      headers: { 'content-type': 'application/json' },
      body,
      text: async () => {
        const chunks: Uint8Array[] = [];
        for await (const chunk of body) chunks.push(chunk);
        return Buffer.concat(chunks).toString('utf8');
      },
      aliveAt: () => this.#wire.monotonic(),
    };
  }
}

/** Refusal is a response that reports a failure. */
class Refusal extends Error {
  readonly code: number;
  readonly reason: string | undefined;
  readonly details: object | undefined;

  constructor(code: number, reason?: string, message = `refused with ${code}`, details?: object) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

function missing(kind: Resource, name: string): never {
  const details = { group: kind.group, kind: kind.plural, name };
  throw new Refusal(404, 'NotFound', `${kind.plural} "${name}" not found`, details);
}

function kindId({ group, plural }: Pick<Resource, 'group' | 'plural'>): string {
  return `${group}/${plural}`;
}

function objectId(kind: string, namespace: string | undefined, name: string | undefined): string {
  return `${kind}|${namespace ?? ''}|${name ?? ''}`;
}

function verbOf(method: TransportRequest['method'], type: string): RecordedWrite['verb'] {
  if (method === 'POST') return 'create';
  if (method === 'PUT') return 'update';
  if (method === 'DELETE') return 'delete';
  return type.includes('apply-patch') ? 'apply' : 'patch';
}

/** patched returns the result of an update, a patch or an apply. */
function patched(
  kind: Resource,
  existing: Stored,
  verb: RecordedWrite['verb'],
  type: string,
  body: unknown,
  by: Writer,
): Stored {
  // Each branch returns an object of the kind: the bodies were created by this package's client.
  if (verb === 'update') return body as Stored;
  if (verb === 'apply') return applied(existing, body as JsonObject, kind, by);
  if (type.includes('json-patch')) return applyJsonPatch(existing, body as readonly JsonPatchOperation[]) as Stored;
  const schema = type.includes('strategic') ? schemaFor(apiVersionOf(kind), kind.kind) : undefined;
  if (type.includes('strategic') && !schema) throw new Refusal(415);
  return (schema ? strategicMerge(existing, body as JsonObject, schema) : applyMergePatch(existing, body)) as Stored;
}

/** checkSchema rejects what the schema of a kind does not allow; other kinds are not checked. */
function checkSchema(kind: Resource, wanted: Stored, oldObject: Stored | undefined): void {
  const problems = isCustomResource(kind) ? kind.validate(wanted, { oldObject }) : [];
  if (problems.length === 0) return;
  const name = wanted.metadata?.name ?? '';
  const causes = problems.map(({ field, reason, message }) => ({ field, reason, message }));
  const message = `${kind.kind} "${name}" is invalid: ${describeProblems(problems)}`;
  throw new Refusal(422, 'Invalid', message, { group: kind.group, kind: kind.kind, name, causes });
}

/** checkIdentity rejects a write to another object, or to another state of it, than its writer has seen. */
function checkIdentity(existing: Stored, wanted: Pick<Stored, 'metadata'>): void {
  const { uid, resourceVersion } = wanted.metadata ?? {};
  if (uid !== undefined && uid !== existing.metadata?.uid) throw new Refusal(409, 'Conflict');
  if (resourceVersion && resourceVersion !== existing.metadata?.resourceVersion) throw new Refusal(409, 'Conflict');
}

/** placed sets the metadata that a writer cannot choose. */
function placed(wanted: Stored, namespace: string | undefined, name: string | undefined, existing?: Stored): Stored {
  const { uid: _, resourceVersion: __, ...metadata } = wanted.metadata ?? {};
  const { deletionTimestamp } = existing?.metadata ?? {};
  return {
    ...wanted,
    metadata: {
      ...metadata,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
  };
}

/** A kind with a schema has defaults; a new object has no status until one is written. */
function withDefaults(kind: Resource, body: unknown): Stored {
  const { status: _, ...object } = body as Stored;
  return (isCustomResource(kind) ? kind.withDefaults(object) : object) as Stored;
}

/** Returns the content that matters to clients: everything except what the server sets. */
function contentOf(object: Stored): object {
  const { resourceVersion: _, generation: __, uid: ___, creationTimestamp: ____, ...metadata } = object.metadata ?? {};
  // Through JSON, so that undefined members are missing.
  const { apiVersion: _____, kind: ______, ...content } = JSON.parse(JSON.stringify({ ...object, metadata })) as Stored;
  return content;
}

function specOf(object: Stored): object {
  const { metadata: _, status: __, apiVersion: ___, kind: ____, ...spec } = object;
  return JSON.parse(JSON.stringify(spec)) as object;
}

function nameIn(body: unknown): string | undefined {
  return (body as Partial<Stored> | undefined)?.metadata?.name;
}

function selection(url: URL): (object: Stored) => boolean {
  const labels = parseLabelSelector(url.searchParams.get('labelSelector') ?? '');
  const fields = parseFieldSelector(url.searchParams.get('fieldSelector') ?? '');
  return (object) =>
    labels.matches(object.metadata?.labels ?? {}) && fields.matches(selectable(fields.requirements, object));
}

/** Returns the values of the fields that a selector names. */
function selectable(
  requirements: readonly { readonly field: string }[],
  object: Stored,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    requirements.map(({ field }) => {
      const value = field.split('.').reduce<unknown>((at, name) => (at as JsonObject | undefined)?.[name], object);
      return [field, typeof value === 'string' ? value : ''];
    }),
  );
}

function partial(object: Stored): object {
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: object.metadata };
}

/** `/api/v1/namespaces/a` is an object, `/api/v1/namespaces/a/configmaps` a collection in it. */
function targetOf(path: string): Target {
  const parts = path.split('/').slice(1).map(decodeURIComponent);
  const group = parts[0] === 'apis' ? (parts[1] ?? '') : '';
  const rest = parts.slice(parts[0] === 'apis' ? 3 : 2);
  const isWithin = rest[0] === 'namespaces' && rest.length > 2 && rest[2] !== 'status';
  const [plural = '', name, ...below] = isWithin ? rest.slice(2) : rest;
  return {
    group,
    plural,
    namespace: isWithin ? rest[1] : undefined,
    name,
    subresource: below.length > 0 ? below.join('/') : undefined,
  };
}
