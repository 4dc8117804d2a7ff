import type { KubernetesObject, ObjectKey, Resource } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { type Random, seededRandom, VirtualClock } from '@bowline/machinery';
import { Cache } from '../cache/cache.ts';
import type { Client } from '../client/client.ts';
import { createClient } from '../client/create-client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { type OperatorIdentity, operatorIdentity } from '../identity/operator-identity.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { declaredPermissions } from '../operator/declared-permissions.ts';
import type { Operator } from '../operator/operator.ts';
import type { ResolveNamespace } from '../operator/with-namespaces.ts';
import { installNamespaceId } from '../permissions/install-namespaces.ts';
import type { Permission } from '../permissions/permission.ts';
import { restrictedClient } from '../permissions/restricted-client.ts';
import { completed, type GivenObject } from './given.ts';
import { MemoryApiServer } from './memory-api-server.ts';

/** UnitTestOptions are the options of every unit test. */
export interface UnitTestOptions {
  /** The objects that exist when the test begins. Defaults to none. */
  readonly objects?: readonly GivenObject[] | undefined;
  /** Defaults to a clock that stands still at the beginning of 2026. */
  readonly clock?: VirtualClock | undefined;
  /** The operator's name, as used in field managers. Defaults to `unit`. */
  readonly operator?: string | undefined;
  /** The operator's domain, as used in annotations. Defaults to `unit.test`. */
  readonly domain?: string | undefined;
  /**
   * Additional permissions, as on `defineOperator`. Defaults to none: undeclared requests are rejected as in a cluster.
   */
  readonly permissions?: readonly Permission[] | undefined;
  /** The names of the operator's install namespaces, by id. Defaults to their ids. */
  readonly namespaces?: Readonly<Record<string, string>> | undefined;
  /**
   * Kinds that the API server does not serve, of optional sources or only written. Defaults to none: all declared kinds
   * are served, also without objects.
   */
  readonly notServed?: readonly Resource[] | undefined;
  /** Defaults to a silent log. */
  readonly log?: Log | undefined;
}

/** unitTestNamespaces returns the names of install namespaces in a unit test, in place of their placeholders. */
export function unitTestNamespaces({ namespaces = {} }: UnitTestOptions): ResolveNamespace {
  return (namespace) => {
    const id = installNamespaceId(namespace);
    return id === undefined ? namespace : (namespaces[id] ?? id);
  };
}

/** DepsOption requires the dependencies that a controller or webhook needs from its operator's `setup`, if any. */
export type DepsOption<Deps> = unknown extends Deps ? { readonly deps?: Deps } : { readonly deps: Deps };

/**
 * UnitTestEnvironment is the environment of the runtime's own code in a unit test: an API server and a cache, both in
 * memory.
 */
export class UnitTestEnvironment implements AsyncDisposable {
  readonly clock: VirtualClock;
  /** Stands still: nothing between machines takes time. */
  readonly wire: VirtualClock = new VirtualClock();
  readonly random: Random = seededRandom(1);
  readonly log: Log;
  readonly server: MemoryApiServer;
  readonly cache: Cache;
  /** Allows what the operator declares, and rejects everything else. */
  readonly client: Client;
  readonly identity: OperatorIdentity;
  readonly #notServed = new Set<string>();
  readonly #end = new AbortController();
  #running: Promise<void> | undefined;

  constructor(operator: Operator, options: UnitTestOptions) {
    this.clock = options.clock ?? new VirtualClock();
    this.log = options.log ?? silentLog;
    this.server = new MemoryApiServer({ clock: this.clock, wire: this.wire });
    const { clock, wire, random, log } = this;
    const whole = createClient({ transport: this.server.transport(), clock, wire, random, log });
    this.identity = operatorIdentity(operator);
    const { systemNamespace: namespace, annotations } = this.identity;
    this.client = restrictedClient(whole, declaredPermissions(operator), { operator: operator.name, namespace });
    const pausedAnnotation = annotations.paused;
    this.cache = new Cache({ client: this.client, clock, wire, random, log, pausedAnnotation, freeze: true });
    for (const kind of [Event, ...kindsOf(operator)]) this.server.serve(kind);
    for (const kind of options.notServed ?? []) {
      assertOptional(operator, kind);
      this.#notServed.add(kind.id);
      this.server.unserve(kind);
    }
    for (const { kind, object } of options.objects ?? []) {
      this.#serve(kind);
      this.server.put(kind, object);
    }
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** start runs the cache; request informers before it. */
  start(): void {
    this.#running = this.cache.run(this.#end.signal);
  }

  /** put stores an object as another client would; it is immediately visible in caches. */
  put(kind: Resource<KubernetesObject>, object: KubernetesObject): void {
    this.#serve(kind);
    this.cache.recordWrite(kind, this.server.put(kind, completed(kind, object)));
  }

  /** delete deletes an object as another client would; the deletion is immediately visible in caches. */
  async delete(kind: Resource<KubernetesObject>, key: ObjectKey): Promise<void> {
    const client = createClient({ transport: this.server.transport('other'), clock: this.clock, wire: this.wire });
    const writes = this.server.recordedWrites.length;
    const uid = this.server.get(kind, key)?.metadata?.uid ?? '';
    await client.delete(kind, key);
    // This write is not the operator's.
    this.server.recordedWrites.length = writes;
    const left = this.server.get(kind, key);
    if (left) this.cache.recordWrite(kind, left);
    else this.cache.recordDelete(kind, key, { uid });
  }

  #serve(kind: Resource): void {
    if (this.#notServed.has(kind.id)) {
      throw unitTestError(`no ${kind.kind} can exist: its kind is not served; remove it from notServed`);
    }
    this.server.serve(kind);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#running;
  }
}

/** A source that is not optional would be waited for without end. */
function assertOptional({ controllers, webhooks }: Operator, kind: Resource): void {
  for (const { name, sources } of [...controllers, ...webhooks]) {
    if (sources.every(({ resource, optional }) => optional || resource.id !== kind.id)) continue;
    throw unitTestError(
      `${kind.kind} cannot be in notServed: ${name} needs it; declare its source with optional: true`,
    );
  }
}

function kindsOf({ controllers, webhooks, resources }: Operator): readonly Resource[] {
  const declared = [...controllers, ...webhooks].flatMap(({ sources }) => sources.map(({ resource }) => resource));
  const written = controllers.flatMap(({ writes }) => writes.map(({ resource }) => resource));
  return [...declared, ...written, ...resources, ...webhooks.map(({ kind }) => kind)];
}

/** unitTestError returns the error for a mistake in a unit test. */
export function unitTestError(message: string): BowlineError {
  return new BowlineError('BOWLINE_UNIT_TEST_INVALID', message);
}
