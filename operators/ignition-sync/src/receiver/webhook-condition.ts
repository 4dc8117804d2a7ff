import type { IgnitionSyncSpec } from '../api/ignition-sync.ts';
import type { Config } from '../config.ts';
import { hasGlobalSecret, type ReceiverEnvironment } from './receiver-environment.ts';

/** WebhookFacts is what the condition WebhookReady depends on. */
export interface WebhookFacts {
  readonly webhook: IgnitionSyncSpec['webhook'];
  readonly config: Pick<Config, 'webhookReceiverPort' | 'receiverSecret' | 'allowUnauthenticatedWebhooks'>;
  readonly environment: ReceiverEnvironment;
  /** Why the Secret that `webhook.secretRef` names cannot be used. Undefined if it can, or none is named. */
  readonly secretProblem?: string | undefined;
}

/** WebhookCondition is the condition WebhookReady without its type. */
export interface WebhookCondition {
  readonly status: boolean;
  readonly reason: 'ListenerActive' | 'Unauthenticated' | 'WebhookDisabled' | 'ListenerDisabled';
  readonly message: string;
}

/** webhookCondition returns whether webhooks for an IgnitionSync are accepted. It is not part of Ready. */
export function webhookCondition({ webhook, config, environment, secretProblem }: WebhookFacts): WebhookCondition {
  const { webhookReceiverPort: port, allowUnauthenticatedWebhooks } = config;
  if (!webhook.enabled)
    return {
      status: false,
      reason: 'WebhookDisabled',
      message: 'webhook.enabled is false, so webhooks are refused; set it to true to receive them',
    };
  if (port === 0) {
    const message = 'the operator receives no webhooks; set its webhookReceiverPort, or rely on polling';
    return { status: false, reason: 'ListenerDisabled', message };
  }
  const isGlobal = hasGlobalSecret(config, environment);
  if (!isGlobal && webhook.secretRef !== undefined && secretProblem !== undefined) {
    const message = `every request gets 401, because webhook.secretRef cannot be used: ${secretProblem}`;
    return { status: false, reason: 'Unauthenticated', message };
  }
  const address =
    webhook.port === port
      ? `webhooks are received on port ${port}`
      : `webhooks are received on port ${port}, which all IgnitionSyncs share; webhook.port ${webhook.port} has no effect`;
  if (isGlobal || webhook.secretRef !== undefined) return { status: true, reason: 'ListenerActive', message: address };
  if (allowUnauthenticatedWebhooks)
    return { status: true, reason: 'Unauthenticated', message: `${address}, from any sender; set webhook.secretRef` };
  const message = 'every request gets 401, because no secret is configured; set webhook.secretRef';
  return { status: false, reason: 'Unauthenticated', message };
}
