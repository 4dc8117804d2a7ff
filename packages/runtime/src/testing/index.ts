export { type GivenObject, given } from './given.ts';
export type { RecordedWrite } from './memory-writes.ts';
export {
  type ControllerTest,
  type EnqueuedKey,
  type RecordedEvent,
  type RunOptions,
  testController,
} from './test-controller.ts';
export { type ReviewOptions, type ReviewOutcome, testWebhook, type WebhookTest } from './test-webhook.ts';
export type { DepsOption, UnitTestOptions } from './unit-test-environment.ts';
