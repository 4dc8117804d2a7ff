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
import { type Clock, parseLabelSelector, systemClock } from '@bowline/machinery';
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';

interface Stored extends KubernetesObject {
  readonly [field: string]: unknown;
}

interface Watcher {
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly matches: (object: Stored) => boolean;
  readonly metadataOnly: boolean;
  readonly push: (line: object | undefined) => void;
}

/** SeenRequest is a request as recorded for assertions. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly user: string;
}

/**
 * SmallApiServer implements the part of an API server that the runtime's own tests need: objects of any kind, optimistic locking,
 * WatchList with label selectors. It has no schema, no admission and no history.
 */
export class SmallApiServer {
  readonly requests: SeenRequest[] = [];
  /** Returns a status to fail a request with. */
  refuse: (request: SeenRequest) => number | undefined = () => undefined;
  readonly #served = new Map<string, Resource>();
  readonly #objects = new Map<string, Stored>();
  readonly #watchers = new Set<Watcher>();
  readonly #wire: Clock;
  #version = 1;
  #uid = 0;

  constructor(wire: Clock = systemClock) {
    this.#wire = wire;
    for (const kind of [ConfigMap, Lease, Namespace, Secret]) this.serve(kind);
  }

  /** serve registers a kind; any other kind is not found. */
  serve(kind: Resource): void {
    this.#served.set(kind.plural, kind);
  }

  /** transport returns the transport of one user. */
  transport(user = 'admin'): Transport {
    const close = (): Promise<void> => Promise.resolve();
    return {
      host: 'small',
      request: async (request) => this.#answer(request, user),
      close,
      [Symbol.asyncDispose]: close,
    };
  }

  /** put stores an object as another client would, replacing any existing one. */
  put<T extends KubernetesObject>(kind: Resource<T>, object: T): KubernetesObject {
    const existing = this.#objects.get(idOf(kind.plural, object.metadata?.namespace, object.metadata?.name));
    return this.#store(kind.plural, object as KubernetesObject as Stored, existing);
  }

  /** get returns a stored object. */
  get<T extends KubernetesObject>(kind: Resource<T>, key: ObjectKey): T | undefined {
    return this.#objects.get(idOf(kind.plural, key.namespace, key.name)) as T | undefined;
  }

  /** remove deletes an object as another client would. */
  remove(kind: Resource, key: ObjectKey): void {
    const id = idOf(kind.plural, key.namespace, key.name);
    const existing = this.#objects.get(id);
    if (existing === undefined) return;
    this.#objects.delete(id);
    const last = {
      ...existing,
      metadata: { ...existing.metadata, resourceVersion: String(++this.#version) },
    } as Stored;
    this.#tell(kind.plural, 'DELETED', last, existing);
  }

  /** drop ends every watch, like a restarting server. */
  drop(): void {
    for (const watcher of this.#watchers) watcher.push(undefined);
    this.#watchers.clear();
  }

  /** writes returns the requests that change something, except Leases. */
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
    if (refusal !== undefined) return this.#status(refusal);
    const url = new URL(request.path, 'http://small');
    const { plural, namespace, name } = target(url.pathname);
    const kind = this.#served.get(plural);
    if (kind === undefined) return this.#status(404);
    const metadataOnly = request.headers?.accept?.includes('PartialObjectMetadata') ?? false;
    const existing = name === undefined ? undefined : this.#objects.get(idOf(plural, namespace, name));
    const body =
      typeof request.body === 'string' && request.body !== '' ? (JSON.parse(request.body) as Stored) : undefined;
    switch (request.method) {
      case 'GET':
        if (name !== undefined) return existing ? this.#json(200, existing) : this.#notFound(kind, name);
        if (url.searchParams.get('watch')) return this.#watch(request, url, kind, namespace, metadataOnly);
        return this.#list(url, kind, namespace, metadataOnly);
      case 'POST': {
        const wanted = { ...body, metadata: { ...body?.metadata, ...(namespace ? { namespace } : {}) } } as Stored;
        if (this.#objects.has(idOf(plural, namespace, wanted.metadata?.name)))
          return this.#status(409, 'AlreadyExists');
        return this.#json(201, this.#store(plural, wanted, undefined));
      }
      case 'PUT':
        if (existing === undefined) return this.#notFound(kind, name ?? '');
        if (body?.metadata?.resourceVersion !== existing.metadata?.resourceVersion)
          return this.#status(409, 'Conflict');
        return this.#json(200, this.#store(plural, body as Stored, existing));
      case 'DELETE':
        if (existing === undefined || name === undefined) return this.#notFound(kind, name ?? '');
        this.remove(kind, { namespace, name });
        return this.#json(200, {
          apiVersion: 'v1',
          kind: 'Status',
          status: 'Success',
          details: { uid: existing.metadata?.uid },
        });
      case 'PATCH':
        return this.#status(415);
    }
  }

  #store(plural: string, wanted: Stored, existing: Stored | undefined): Stored {
    const kind = this.#served.get(plural);
    const stored = {
      ...wanted,
      apiVersion: kind && apiVersionOf(kind),
      kind: kind?.kind,
      metadata: {
        ...wanted.metadata,
        uid: existing?.metadata?.uid ?? `uid-${++this.#uid}`,
        resourceVersion: String(++this.#version),
      },
    } as Stored;
    this.#objects.set(idOf(plural, stored.metadata?.namespace, stored.metadata?.name), stored);
    this.#tell(plural, existing ? 'MODIFIED' : 'ADDED', stored, existing);
    return stored;
  }

  #tell(plural: string, type: string, object: Stored, before: Stored | undefined): void {
    for (const watcher of this.#watchers) {
      if (watcher.plural !== plural) continue;
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
    const { plural } = kind;
    const matches = selection(url);
    const lines: (object | undefined)[] = [];
    let wake: () => void = () => {};
    const watcher: Watcher = {
      plural,
      namespace,
      matches,
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
    return [...this.#objects]
      .filter(([id, object]) => id.startsWith(`${kind.plural}|`) && matches(object))
      .filter(([, object]) => namespace === undefined || namespace === object.metadata?.namespace)
      .map(([, object]) => (metadataOnly ? partial(object) : object));
  }

  #notFound(kind: Resource, name: string): TransportResponse {
    return this.#status(404, 'NotFound', { group: kind.group, kind: kind.plural, name });
  }

  #status(code: number, reason?: string, details?: object): TransportResponse {
    return this.#json(code, {
      apiVersion: 'v1',
      kind: 'Status',
      status: 'Failure',
      code,
      reason,
      details,
      message: `refused with ${code}`,
    });
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

function idOf(plural: string, namespace: string | undefined, name: string | undefined): string {
  return `${plural}|${namespace ?? ''}|${name ?? ''}`;
}

function selection(url: URL): (object: Stored) => boolean {
  const selector = parseLabelSelector(url.searchParams.get('labelSelector') ?? '');
  return (object) => selector.matches(object.metadata?.labels ?? {});
}

function partial(object: Stored): object {
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: object.metadata };
}

/** `/api/v1/namespaces/a` is an object, `/api/v1/namespaces/a/configmaps` a collection in it. */
function target(path: string): { plural: string; namespace: string | undefined; name: string | undefined } {
  const parts = path.split('/').slice(path.startsWith('/apis/') ? 4 : 3);
  if (parts[0] === 'namespaces' && parts.length > 2)
    return { plural: parts[2] ?? '', namespace: parts[1], name: parts[3] };
  return { plural: parts[0] ?? '', namespace: undefined, name: parts[1] };
}
