// The entry of `@bowline/runtime/controller`: the types behind `controller` and `keyed`, and the work queue.
export type * from '../controller/builder-steps.ts';
export type * from '../controller/context.ts';
export type * from '../controller/controller.ts';
export type { ControllerState } from '../controller/controller-runner.ts';
export { KeyStream, type KeyStreamOptions } from '../controller/key-stream.ts';
export type { LiveClient } from '../controller/live-client.ts';
export type { Change, Predicate } from '../controller/predicates.ts';
export { SlowError, TerminalError } from '../controller/reconcile-error.ts';
export type * from '../controller/sources.ts';
export type * from '../controller/status-collector.ts';
export type * from '../controller/trigger-stream.ts';
export type * from '../controller/write-types.ts';
export type { BackoffOptions, BackoffRange } from '../queue/backoff.ts';
export { type Cause, describeCause, type ObjectCause } from '../queue/cause.ts';
export { Queue } from '../queue/queue.ts';
export {
  type AddOptions,
  LOW_PRIORITY,
  type QueueEntry,
  type QueueItem,
  type QueueOptions,
  type RetryOptions,
} from '../queue/queue-options.ts';
