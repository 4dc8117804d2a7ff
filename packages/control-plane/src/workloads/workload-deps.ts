import type { WorkloadEvents } from './pods/workload-events.ts';
import type { Assumed } from './scheduler/scheduler.ts';

/** WorkloadDeps is what the controllers of workloads share. */
export interface WorkloadDeps {
  readonly events: WorkloadEvents;
  readonly assumed: Assumed;
}
