import { isConflict } from '../errors/api-error.ts';
import type { EventRecorder } from '../writing/event-recorder.ts';
import type { Controller } from './controller.ts';
import type { Run } from './run.ts';
import { RunContext, type RunShared } from './run-context.ts';

/** KeyedRunsOptions holds what the runs of a keyed controller need. */
export interface KeyedRunsOptions {
  readonly controller: Controller;
  readonly shared: RunShared;
  /** Undefined if the controller declares no kind to send events about. */
  readonly events: EventRecorder | undefined;
}

/** KeyedRuns wraps the function of a keyed controller: the events of a run are sent when it has ended. */
export class KeyedRuns {
  readonly #options: KeyedRunsOptions;

  constructor(options: KeyedRunsOptions) {
    this.#options = options;
  }

  /** begin returns the work of a run. */
  begin(run: Run): () => unknown {
    const { controller, shared, events } = this.#options;
    const context = new RunContext(shared, run, run.item.key, undefined);
    // The context has every member; the function's type exposes those that its builder declared.
    if (!events) return () => controller.reconcile(context as never);
    return () => this.#reconcile(context, run.item.key, events);
  }

  async #reconcile(context: RunContext, key: string, events: EventRecorder): Promise<unknown> {
    try {
      const result = await this.#options.controller.reconcile(context as never);
      events.reports(key, context.eventReports);
      return result;
    } catch (error) {
      // A run with a conflict is retried immediately, and an aborted run has not reported everything.
      if (!isConflict(error) && !context.signal.aborted) events.reports(key, context.eventReports);
      throw error;
    }
  }
}
