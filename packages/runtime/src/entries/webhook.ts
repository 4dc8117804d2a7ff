// The entry of `@bowline/runtime/webhook`: the types behind `validating` and `mutating`, and the webhook server.
export type {
  AdmissionContext,
  AdmissionRequest,
  LiveFor,
  ReadClient,
  SideEffects,
} from '../webhook/admission-request.ts';
export type {
  AdmissionResponseOptions,
  Admitted,
  AdmittedChanged,
  AdmittedPatched,
  Denied,
  DenyOptions,
  MutatingResponse,
  ValidatingResponse,
} from '../webhook/admission-response.ts';
export type { GroupVersionKind, GroupVersionResource, Operation } from '../webhook/admission-review.ts';
export type { WebhookStart, WebhookStep } from '../webhook/declare.ts';
export { OWN_WEBHOOKS } from '../webhook/own-webhooks.ts';
export { startWebhooks } from '../webhook/start-webhooks.ts';
export {
  type ConfiguredBy,
  type MutatingOptions,
  type Webhook,
  type WebhookOptions,
  webhookFullName,
  webhookPath,
} from '../webhook/webhook.ts';
export { type WebhookRules, type WebhookRulesOptions, webhookRules } from '../webhook/webhook-rules.ts';
export type {
  CertificateOptions,
  ExternalCertificateOptions,
  ManagedCertificateOptions,
  RunningWebhooks,
  WebhooksOptions,
} from '../webhook/webhooks-options.ts';
