import { type KubernetesObject, type ObjectKey, parseKey, type Resource } from '@bowline/kubernetes';
import type { Informer } from '../cache/informer.ts';
import { isConflict } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { isCustomResource } from '../resource/custom-resource.ts';
import { type Deletion, type DeletionMode, deletionOf, isRecordedAsOrphaning } from '../writing/deletion.ts';
import type { EventRecorder } from '../writing/event-recorder.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from '../writing/finalizers.ts';
import { guardedMerge } from '../writing/guarded-merge.ts';
import { patchStatus, type StatusPatch } from '../writing/write-status.ts';
import type { ReconcileResult } from './context.ts';
import type { Controller } from './controller.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { reasonForUsers } from './reconcile-error.ts';
import type { Deferral } from './reconciler.ts';
import type { Run } from './run.ts';
import { RunContext, type RunShared } from './run-context.ts';
import { StatusLoops } from './status-loops.ts';
import type { ReconcileOutcome } from './summary.ts';

/** ObjectRunsOptions holds what the runs of a controller of a kind need. */
export interface ObjectRunsOptions {
  readonly controller: Controller;
  readonly resource: Resource;
  readonly informer: Informer<unknown>;
  readonly shared: RunShared;
  readonly events: EventRecorder;
  readonly metrics: ControllerMetrics;
}

/** The resource value identifies the kind of the objects; here they are plain objects. */
type Kind = Resource<KubernetesObject & { readonly status?: object }>;

/**
 * ObjectRuns wraps the functions of a controller of a kind: the finalizer is added before the first side effect, an
 * object that is being deleted is passed to the cleanup and never to the reconcile, and the status and events of a run
 * are written once, when it has ended.
 */
export class ObjectRuns {
  readonly #options: ObjectRunsOptions;
  readonly #kind: Kind;
  readonly #hasStatus: boolean;
  readonly #statusLoops: StatusLoops;

  constructor(options: ObjectRunsOptions) {
    this.#options = options;
    this.#kind = options.resource as Kind;
    this.#hasStatus = isCustomResource(options.resource) && options.resource.hasStatus;
    this.#statusLoops = new StatusLoops(options.shared.clock);
  }

  /**
   * begin returns the work of a run, undefined if there is none, or how long it has to wait. `observedMode` is the
   * deletion mode that was observed for the object.
   */
  begin(run: Run, observedMode: DeletionMode | undefined): (() => unknown) | Deferral | undefined {
    const { informer, controller, shared } = this.#options;
    const key = parseKey(run.item.key);
    const object = informer.get(key);
    // Deleted, or outside the declared scope: there is nothing to reconcile.
    if (object === undefined || controller.selects?.(object as never, shared.deps as never) === false) {
      this.#statusLoops.recordUnchanged(run.item.key);
      return undefined;
    }
    const pauseMs = observedMode ? 0 : this.#statusLoops.pauseBefore(run.item, object);
    if (pauseMs > 0) return { deferMs: pauseMs };
    if (!controller.finalization) {
      return observedMode ? undefined : () => this.#reconcile(this.#context(run, key, object));
    }
    // A cleanup is rejected for views without metadata.
    const kept = object as KubernetesObject;
    const { finalizer } = controller.finalization;
    const deletion = deletionOf(kept, this.#deletionAnnotation);
    if (deletion) {
      if (!hasFinalizer(kept, finalizer)) return undefined;
      return observedMode === 'orphan' || deletion.mode === 'orphan'
        ? () => this.#cleanUpOrphaning(run, key, kept, { ...deletion, mode: 'orphan' })
        : () => this.#cleanUp(this.#context(run, key, kept, deletion));
    }
    return hasFinalizer(kept, finalizer)
      ? () => this.#reconcile(this.#context(run, key, kept))
      : () => this.#reconcileNew(run, key, kept, finalizer);
  }

  get #deletionAnnotation(): string {
    return this.#options.shared.identity.annotations.deletion;
  }

  #context(run: Run, key: ObjectKey, object: unknown, deletion?: Deletion): RunContext {
    return new RunContext(this.#options.shared, run, key, object, deletion);
  }

  async #reconcileNew(run: Run, key: ObjectKey, object: KubernetesObject, finalizer: string): Promise<unknown> {
    const { live } = this.#context(run, key, object);
    const { fieldManager } = this.#options.shared;
    const stored = await addFinalizer(live, this.#kind, object, finalizer, { fieldManager });
    if (!stored || stored.metadata?.deletionTimestamp !== undefined) return undefined;
    // The result is immediately visible in the cache, in the view that the function expects. If the object was deleted
    // or recreated meanwhile, that has an event of its own.
    const current = this.#options.informer.get(key) as KubernetesObject | undefined;
    if (!current || deletionOf(current) || !hasFinalizer(current, finalizer)) return undefined;
    return await this.#reconcile(this.#context(run, key, current));
  }

  async #reconcile(context: RunContext): Promise<ReconcileResult> {
    let result: ReconcileResult;
    try {
      // The context has every member; the function's type exposes those that its builder declared.
      result = (await this.#options.controller.reconcile(context as never)) ?? undefined;
    } catch (error) {
      await this.#concludeFailure(context, error);
      throw error;
    }
    await this.#conclude(context, { type: 'done' });
    return result;
  }

  /**
   * The mode is recorded first, because finalizers show it only for a while: a later run must not delete what has to
   * stay.
   */
  async #cleanUpOrphaning(run: Run, key: ObjectKey, object: KubernetesObject, deletion: Deletion): Promise<unknown> {
    const context = this.#context(run, key, object, deletion);
    const { fieldManager } = this.#options.shared;
    const annotation = this.#deletionAnnotation;
    const change = { metadata: { annotations: { [annotation]: 'orphan' } } };
    const stored = await guardedMerge(context.live, this.#kind, object, { fieldManager }, (current) =>
      isRecordedAsOrphaning(current, annotation) ? undefined : change,
    );
    return stored && (await this.#cleanUp(context));
  }

  async #cleanUp(context: RunContext): Promise<ReconcileResult> {
    const { finalization } = this.#options.controller;
    if (!finalization) return undefined;
    let result: ReconcileResult;
    try {
      result = (await finalization.cleanup(context as never)) ?? undefined;
    } catch (error) {
      await this.#concludeFailure(context, error);
      throw error;
    }
    if (result?.requeueAfterMs !== undefined) {
      await this.#conclude(context, { type: 'waiting' });
      return result;
    }
    const { fieldManager } = this.#options.shared;
    await removeFinalizer(context.live, this.#kind, context.object as KubernetesObject, finalization.finalizer, {
      fieldManager,
    });
    this.#report(context);
    return undefined;
  }

  /** The status and events of the failed run are written too, but the caller gets the original failure. */
  async #concludeFailure(context: RunContext, error: unknown): Promise<void> {
    // It had a conflict and is retried immediately, or must not write any more.
    if (isConflict(error) || context.signal.aborted) return;
    const reason = reasonForUsers(error);
    // Without metadata in the view there is no object for an event; the status still reports the failure.
    if (reason && (context.object as Partial<KubernetesObject>).metadata?.uid) {
      context.event('Warning', reason, (error as Error).message);
    }
    try {
      await this.#conclude(context, { type: 'failed', error });
    } catch (problem) {
      context.log.warn('cannot write the status of a failed reconcile', { error: problem });
    }
  }

  async #conclude(context: RunContext, outcome: ReconcileOutcome): Promise<void> {
    try {
      await this.#writeStatus(context, outcome);
    } finally {
      this.#report(context);
    }
  }

  async #writeStatus(context: RunContext, outcome: ReconcileOutcome): Promise<void> {
    if (!this.#writesStatus(context)) return;
    const { controller, shared } = this.#options;
    const { draft } = context;
    const object = await this.#fullObject(context);
    if (object === undefined) return;
    const at = {
      now: shared.clock.now(),
      generation: (context.object as KubernetesObject).metadata?.generation ?? object.metadata?.generation,
      outcome: controller.summarize ? outcome : undefined,
    };
    const { fieldManager } = shared;
    const next = (stored: object | undefined) => draft.applyTo(stored, at);
    const patched = await patchStatus(context.live, this.#kind, object, next, { fieldManager });
    this.#noteChange(context, patched);
  }

  /** A status that changes in every run would make every run cause the next one. */
  #noteChange(context: RunContext, { object, fields }: StatusPatch<KubernetesObject>): void {
    if (fields.length === 0 || object === undefined) {
      if (this.#statusLoops.recordUnchanged(context.item.key))
        context.log.info('status no longer changes in every run');
      return;
    }
    const loop = this.#statusLoops.recordChange(context.item, context.object, object, fields);
    if (!loop) return;
    const names = loop.fields.map((name) => `status.${name}`).join(', ');
    if (loop.isNew) {
      this.#options.metrics.statusLooped();
      context.log.warn('status changes in every run, slowing down', { fields: loop.fields });
    }
    if ((context.object as Partial<KubernetesObject>).metadata?.uid) {
      context.event(
        'Warning',
        'StatusNotSettling',
        `${names} changes in every run although nothing else changes; runs are slowed down until the status stays the same`,
      );
    }
  }

  #writesStatus({ draft }: RunContext): boolean {
    return this.#hasStatus && (this.#options.controller.summarize || !draft.isEmpty);
  }

  /**
   * If the view does not keep the status, the object has to be read. Otherwise the cache has what this run wrote to the object;
   * a patch of the older version would be refused.
   */
  async #fullObject(context: RunContext): Promise<(KubernetesObject & { readonly status?: object }) | undefined> {
    const { informer } = this.#options;
    const seen = context.object as KubernetesObject;
    if (informer.view === 'full') {
      const cached = informer.get(context.key as ObjectKey) as KubernetesObject | undefined;
      return cached?.metadata?.uid === seen.metadata?.uid ? cached : seen;
    }
    const object = await context.live.find(this.#kind, context.key as ObjectKey);
    // Nothing is known about an object that has replaced it.
    return object?.metadata?.uid === (seen.metadata?.uid ?? object?.metadata?.uid) ? object : undefined;
  }

  /**
   * A run that found the status as it would have written it, and wrote nothing else, repeats what was reported before,
   * possibly by an earlier process.
   */
  #report(context: RunContext): void {
    const { object, messages, eventReports: reports } = context;
    const { events, resource } = this.#options;
    const { metadata } = object as Partial<KubernetesObject>;
    const isNews = context.hasWritten || !this.#writesStatus(context);
    if (metadata?.uid) events.transitions(resource, { metadata }, messages, { isNews, reports });
    else if (messages.length > 0) {
      throw new BowlineError(
        'BOWLINE_EVENT_WITHOUT_OBJECT',
        `cannot send an event about a ${resource.kind}: the controller's view keeps no metadata; use the view "full" or "metadata"`,
      );
    } else events.reports(context.item.key, reports);
  }
}
