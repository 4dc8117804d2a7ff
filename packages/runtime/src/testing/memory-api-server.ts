import {
  ConfigMap,
  type KubernetesObject,
  Lease,
  Namespace,
  type ObjectKey,
  type Resource,
  Secret,
} from '@bowline/kubernetes';
import { type Clock, systemClock } from '@bowline/machinery';
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';
import { kindId, type MemoryObject, MemoryObjects } from './memory-objects.ts';
import { initialEvents, listOf, readQuery } from './memory-reads.ts';
import { errorResponse, jsonResponse, StatusError, streamResponse, throwNotFound } from './memory-responses.ts';
import { MemoryWatches } from './memory-watches.ts';
import { type RecordedWrite, write, writeRequest } from './memory-writes.ts';

/** ReceivedRequest is a request as a test sees it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly user: string;
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
 * MemoryApiServer implements just enough of an API server to run the runtime's own code: objects of the kinds that it
 * is told to serve, optimistic locking, all four patch types with field managers, finalizers, the status subresource
 * and WatchList with selectors. Kinds with a schema are validated. It has no admission, history or garbage collection,
 * and rejects other subresources.
 */
export class MemoryApiServer {
  readonly requests: ReceivedRequest[] = [];
  readonly recordedWrites: RecordedWrite[] = [];
  /** Makes a request fail: return the status of the error. */
  rejectWith: (request: ReceivedRequest) => number | undefined = () => undefined;
  readonly #served = new Map<string, Resource>();
  readonly #watches = new MemoryWatches();
  readonly #objects: MemoryObjects;
  readonly #wire: Clock;

  constructor({ clock = systemClock, wire = systemClock }: MemoryApiServerOptions = {}) {
    this.#objects = new MemoryObjects(clock, (change) => this.#watches.notify(change));
    this.#wire = wire;
    for (const kind of [ConfigMap, Lease, Namespace, Secret]) this.serve(kind);
  }

  /** serve registers a kind; requests for any other kind fail with 404. */
  serve(kind: Resource): void {
    this.#served.set(kindId(kind), kind);
  }

  /** unserve removes a kind, as the deletion of its definition does: every watch ends, and its objects are gone. */
  unserve(kind: Resource): void {
    this.#served.delete(kindId(kind));
    this.#watches.close();
    for (const { metadata } of this.#objects.all(kind)) this.#objects.remove(kind, metadata ?? {});
  }

  /** transport returns a transport to the server for one user. */
  transport(user = 'admin'): Transport {
    const close = (): Promise<void> => Promise.resolve();
    return {
      host: 'memory',
      request: async (request) => this.#handle(request, user),
      close,
      [Symbol.asyncDispose]: close,
    };
  }

  /** put stores an object as another client would, overwriting any object of its name. */
  put<T extends KubernetesObject>(kind: Resource<T>, object: T): T {
    const existing = this.#objects.get(kind, object.metadata ?? {});
    // A stored object of a kind has the type of the kind.
    return this.#objects.store(kind, object as KubernetesObject as MemoryObject, existing) as KubernetesObject as T;
  }

  /** get returns a stored object. */
  get<T extends KubernetesObject>(kind: Resource<T>, key: ObjectKey): T | undefined {
    return this.#objects.get(kind, key) as KubernetesObject as T | undefined;
  }

  /** all returns every stored object of a kind. */
  all<T extends KubernetesObject>(kind: Resource<T>): readonly T[] {
    return this.#objects.all(kind) as readonly KubernetesObject[] as readonly T[];
  }

  /** remove deletes an object as another client would, ignoring finalizers. */
  remove(kind: Resource, key: ObjectKey): void {
    this.#objects.remove(kind, key);
  }

  /** closeWatches ends every watch, as a server that restarts does. */
  closeWatches(): void {
    this.#watches.close();
  }

  /** writes returns the requests that change something, except for Leases. */
  writes(): string[] {
    return this.requests
      .filter(({ method, path }) => method !== 'GET' && !path.includes('/leases'))
      .map(({ method, path }) => `${method} ${path.split('?')[0]}`);
  }

  #handle(request: TransportRequest, user: string): TransportResponse {
    request.signal?.throwIfAborted();
    request.beforeSend?.();
    const seen = { method: request.method, path: request.path, user };
    this.requests.push(seen);
    const refusal = this.rejectWith(seen);
    if (refusal !== undefined) return errorResponse(new StatusError(refusal), this.#wire);
    try {
      return this.#serve(request);
    } catch (error) {
      if (error instanceof StatusError) return errorResponse(error, this.#wire);
      throw error;
    }
  }

  #serve(request: TransportRequest): TransportResponse {
    const url = new URL(request.path, 'http://memory');
    const target = targetOf(url.pathname);
    const { namespace, name, subresource } = target;
    const kind = this.#served.get(kindId(target));
    if (kind === undefined) throw new StatusError(404);
    if (subresource !== undefined && subresource !== 'status') {
      throw new StatusError(
        501,
        undefined,
        `the in-memory API server does not support ${target.plural}/${subresource}`,
      );
    }
    if (request.method !== 'GET') {
      const { object, recorded } = write(this.#objects, writeRequest(request, url, { ...target, kind }));
      if (recorded) this.recordedWrites.push(recorded);
      return jsonResponse(request.method === 'POST' ? 201 : 200, object, this.#wire);
    }
    if (name !== undefined) {
      return jsonResponse(200, this.#objects.get(kind, { namespace, name }) ?? throwNotFound(kind, name), this.#wire);
    }
    const query = readQuery(request, url, kind, namespace);
    if (!url.searchParams.get('watch')) return jsonResponse(200, listOf(this.#objects, query), this.#wire);
    const initial = url.searchParams.get('sendInitialEvents') ? initialEvents(this.#objects, query) : [];
    return streamResponse(200, this.#watches.open(query, initial, request.signal), this.#wire);
  }
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
