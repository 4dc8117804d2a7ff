import { type KubernetesObject, keyString, type ObjectKey, type ObjectOf, type Resource } from '@bowline/kubernetes';
import type { ObjectReference } from '@bowline/kubernetes/core-v1';
import type { Event } from '@bowline/kubernetes/events-v1';
import type { VirtualClock } from '@bowline/machinery';
import type { EnqueueOptions, ReconcileResult } from '../controller/context.ts';
import type { Controller } from '../controller/controller.ts';
import { ControllerRunner } from '../controller/controller-runner.ts';
import { Run } from '../controller/run.ts';
import { noMetrics } from '../observability/metrics.ts';
import { defineOperator } from '../operator/operator.ts';
import { withControllerNamespaces, withNamespaces } from '../operator/with-namespaces.ts';
import { withOwnNames } from '../operator/with-own-names.ts';
import type { Cause } from '../queue/cause.ts';
import type { WrittenOf } from '../resource/custom-resource.ts';
import type { RecordedWrite } from './memory-writes.ts';
import {
  type DepsOption,
  UnitTestEnvironment,
  type UnitTestOptions,
  unitTestError,
  unitTestNamespaces,
} from './unit-test-environment.ts';

/** RunOptions configures what a run knows about earlier runs. */
export interface RunOptions {
  /** 1 for the first attempt. Defaults to 1. */
  readonly attempt?: number | undefined;
  /** Why it runs. Defaults to no cause. */
  readonly causes?: readonly Cause[] | undefined;
}

/** RecordedEvent is an event that a run sent. */
export interface RecordedEvent {
  readonly type: string | undefined;
  readonly reason: string | undefined;
  readonly note: string | undefined;
  readonly regarding: ObjectReference | undefined;
}

/** EnqueuedKey is a key that a run enqueued. */
export interface EnqueuedKey extends EnqueueOptions {
  readonly key: ObjectKey | string;
}

/**
 * ControllerTest runs the functions of one controller, one key at a time. The lists describe the last run, failed or
 * not.
 */
export interface ControllerTest extends AsyncDisposable {
  /**
   * reconcile runs a key as the runtime does: finalizer first, then the reconcile function, or the cleanup of an object
   * that is being deleted; then status and events are written. It resolves with the result of the function, and rejects
   * with what it threw. An object that does not exist is an error of the test; a paused object is ignored.
   */
  reconcile(key: ObjectKey | string, options?: RunOptions): Promise<ReconcileResult>;
  /** The writes of the run, in order: without events, including the status. */
  readonly writes: readonly RecordedWrite[];
  readonly events: readonly RecordedEvent[];
  /** The keys that the run enqueued with `ctx.enqueue`. */
  readonly enqueued: readonly EnqueuedKey[];
  readonly clock: VirtualClock;
  /** get returns an object as it is stored now. */
  get<T extends KubernetesObject>(kind: Resource<T>, key: ObjectKey): T | undefined;
  /** put stores an object as another client would; it is immediately visible in caches. */
  put<R extends Resource<KubernetesObject>>(kind: R, object: WrittenOf<R> | ObjectOf<R>): void;
  /** delete deletes an object as another client would: with finalizers it stays, and the next run is its cleanup. */
  delete(kind: Resource<KubernetesObject>, key: ObjectKey): Promise<void>;
}

/**
 * testController runs a controller's functions without a control plane, on the runtime's own code: real context,
 * caches, writer, permissions and status, over an API server in memory. There is no queue: the test decides which key
 * runs, and when.
 *
 * @example
 * await using t = await testController(sites, { objects: [given(Site, site)], deps: { dns } });
 * await t.reconcile({ namespace: 'shop', name: 'a' });
 * expect(t.get(ConfigMap, { namespace: 'shop', name: 'a' })?.data).toEqual({ title: 'hello' });
 */
export async function testController<Deps>(
  controller: Controller<Deps>,
  options: UnitTestOptions & DepsOption<Deps>,
): Promise<ControllerTest> {
  const { operator: name = 'unit', domain = 'unit.test', permissions = [] } = options;
  const deps = options.deps as Deps;
  const resolve = unitTestNamespaces(options);
  const operator = withOwnNames(
    defineOperator<unknown>({
      name,
      domain,
      // Its deps are passed right here.
      controllers: [withControllerNamespaces(controller as Controller<unknown>, resolve)],
      permissions: permissions.map((each) => withNamespaces(each, resolve)),
      setup: () => deps,
    }),
  );
  const environment = new UnitTestEnvironment(operator, options);
  const { cache, clock, random, log, server, identity } = environment;
  const common = { identity, instance: 'unit', cache, clock, random, log, metrics: noMetrics };
  const runner = new ControllerRunner(operator.controllers[0] ?? controller, { ...common, cache: cache as never });
  const enqueued: EnqueuedKey[] = [];
  const runs = runner.single({
    client: environment.client,
    deps,
    enqueue: (key, wanted = {}) => void enqueued.push({ key, ...wanted }),
  });
  environment.start();
  await runner.synced(environment.signal);
  const primary = controller.sources.find(({ role }) => role === 'primary')?.resource;
  let count = 0;

  const begin = (run: Run, key: ObjectKey | string): ReturnType<typeof runs.begin> => {
    if (!primary || typeof key === 'string') return runs.begin(run);
    const object = server.get(primary as Resource<KubernetesObject>, key);
    if (!object) {
      throw unitTestError(`${primary.kind} ${keyString(key)} does not exist: add it with given(${primary.kind}, …)`);
    }
    return object.metadata?.annotations?.[identity.annotations.paused] === 'true' ? undefined : runs.begin(run);
  };
  return {
    async reconcile(key, { attempt = 1, causes = [] } = {}) {
      server.recordedWrites.length = 0;
      enqueued.length = 0;
      const text = typeof key === 'string' ? key : keyString(key);
      const item = { key: text, priority: 0, causes, droppedCauses: 0, failures: attempt - 1 };
      const run = new Run(item, `unit-${++count}`, clock.monotonic());
      try {
        const work = begin(run, key);
        if (typeof work !== 'function') return work && { requeueAfterMs: work.deferMs };
        return (await work()) as ReconcileResult;
      } finally {
        // Already aborted: it sends the waiting events, and ends.
        await runs.events?.run(AbortSignal.abort());
        run.abort(new Error('the run has ended'));
      }
    },
    get writes() {
      return server.recordedWrites.filter(({ kind }) => kind !== 'Event');
    },
    get events() {
      return server.recordedWrites
        .filter(({ kind, verb }) => kind === 'Event' && verb === 'create')
        .map(({ body }) => recorded(body as Event));
    },
    get enqueued() {
      return [...enqueued];
    },
    clock,
    get: (kind, key) => server.get(kind, key),
    put: (kind, object) => environment.put(kind, object),
    delete: (kind, key) => environment.delete(kind, key),
    async [Symbol.asyncDispose]() {
      runner[Symbol.dispose]();
      await environment[Symbol.asyncDispose]();
    },
  };
}

function recorded({ type, reason, note, regarding }: Event): RecordedEvent {
  return { type, reason, note, regarding };
}
