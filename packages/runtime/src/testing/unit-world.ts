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
import type { Permission } from '../permissions/permission.ts';
import { restricted } from '../permissions/restricted-client.ts';
import { completed, type GivenObject } from './given.ts';
import { MemoryApiServer } from './memory-api-server.ts';

/** UnitOptions are those of every unit test. */
export interface UnitOptions {
  /** What exists when the test begins. Defaults to nothing. */
  readonly objects?: readonly GivenObject[] | undefined;
  /** Defaults to one that stands still at the beginning of 2026. */
  readonly clock?: VirtualClock | undefined;
  /** The operator's name, as it stands in field managers. Defaults to `unit`. */
  readonly operator?: string | undefined;
  /** The operator's domain, as it stands in annotations. Defaults to `unit.test`. */
  readonly domain?: string | undefined;
  /** Further rights, as on `defineOperator`. Defaults to none: what is not declared is refused as it is in a cluster. */
  readonly permissions?: readonly Permission[] | undefined;
  /** Defaults to silence. */
  readonly log?: Log | undefined;
}

/** DepsOption demands what a controller or webhook needs of its operator's `setup`, if it needs anything. */
export type DepsOption<Deps> = unknown extends Deps ? { readonly deps?: Deps } : { readonly deps: Deps };

/** UnitWorld is what the runtime's own code runs on in a unit test: an API server and a cache, both in memory. */
export class UnitWorld implements AsyncDisposable {
  readonly clock: VirtualClock;
  /** Stands still: nothing on the way between machines takes time. */
  readonly wire: VirtualClock = new VirtualClock();
  readonly random: Random = seededRandom(1);
  readonly log: Log;
  readonly server: MemoryApiServer;
  readonly cache: Cache;
  /** Does what the operator declares, and refuses the rest. */
  readonly client: Client;
  readonly identity: OperatorIdentity;
  readonly #end = new AbortController();
  #running: Promise<void> | undefined;

  constructor(operator: Operator, options: UnitOptions) {
    this.clock = options.clock ?? new VirtualClock();
    this.log = options.log ?? silentLog;
    this.server = new MemoryApiServer({ clock: this.clock, wire: this.wire });
    const { clock, wire, random, log } = this;
    const whole = createClient({ transport: this.server.transport(), clock, wire, random, log });
    this.identity = operatorIdentity(operator);
    const { systemNamespace: namespace, annotations } = this.identity;
    this.client = restricted(whole, declaredPermissions(operator), { operator: operator.name, namespace });
    const pausedAnnotation = annotations.paused;
    this.cache = new Cache({ client: this.client, clock, wire, random, log, pausedAnnotation, freeze: true });
    for (const kind of [Event, ...kindsOf(operator)]) this.server.serve(kind);
    for (const { kind, object } of options.objects ?? []) {
      this.server.serve(kind);
      this.server.put(kind, object);
    }
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** start runs the cache; informers are asked for before it. */
  start(): void {
    this.#running = this.cache.run(this.#end.signal);
  }

  /** put stores an object as another client would; caches have it at once. */
  put(kind: Resource<KubernetesObject>, object: KubernetesObject): void {
    this.server.serve(kind);
    this.cache.recordWrite(kind, this.server.put(kind, completed(kind, object)));
  }

  /** delete asks for the deletion of an object as another client would; caches know at once. */
  async delete(kind: Resource<KubernetesObject>, key: ObjectKey): Promise<void> {
    const client = createClient({ transport: this.server.transport('other'), clock: this.clock, wire: this.wire });
    const writes = this.server.writesDone.length;
    const uid = this.server.get(kind, key)?.metadata?.uid ?? '';
    await client.delete(kind, key);
    // It is not the operator's.
    this.server.writesDone.length = writes;
    const left = this.server.get(kind, key);
    if (left) this.cache.recordWrite(kind, left);
    else this.cache.recordDelete(kind, key, { uid });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#running;
  }
}

function kindsOf({ controllers, webhooks, resources }: Operator): readonly Resource[] {
  const declared = [...controllers, ...webhooks].flatMap(({ sources }) => sources.map(({ resource }) => resource));
  const written = controllers.flatMap(({ writes }) => writes.map(({ resource }) => resource));
  return [...declared, ...written, ...resources, ...webhooks.map(({ kind }) => kind)];
}

/** unitTestProblem is a mistake in a unit test. */
export function unitTestProblem(message: string): BowlineError {
  return new BowlineError('BOWLINE_UNIT_TEST_INVALID', message);
}
