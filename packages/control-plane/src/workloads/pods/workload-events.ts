import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { untilAborted } from '@bowline/machinery';
import { type EventMessage, EventRecorder, type EventRecorderOptions } from '@bowline/runtime/writing';

/** WorkloadEvents sends the events of several controllers, each under its own name. */
export class WorkloadEvents {
  readonly #options: Omit<EventRecorderOptions, 'controller'>;
  readonly #recorders = new Map<string, EventRecorder>();
  readonly #running = new Set<Promise<void>>();
  #signal: AbortSignal | undefined;

  constructor(options: Omit<EventRecorderOptions, 'controller'>) {
    this.#options = options;
  }

  /** record records an event about an object. */
  record(controller: string, resource: Resource, object: KubernetesObject, message: EventMessage): void {
    let recorder = this.#recorders.get(controller);
    if (!recorder) {
      recorder = new EventRecorder({ ...this.#options, controller });
      this.#recorders.set(controller, recorder);
      if (this.#signal) this.#running.add(recorder.run(this.#signal));
    }
    recorder.record(resource, object, message);
  }

  /** run sends events until the signal is aborted, and resolves when none is in flight. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    for (const recorder of this.#recorders.values()) this.#running.add(recorder.run(signal));
    await untilAborted(signal);
    await Promise.all(this.#running);
  }
}

/** WorkloadDeps holds the dependencies that the workload controllers share. */
export interface WorkloadDeps {
  readonly events: WorkloadEvents;
}
