import { expect, it } from 'vitest';
import { receiverEnvironment } from './receiver-environment.ts';
import { type WebhookCondition, type WebhookFacts, webhookCondition } from './webhook-condition.ts';

const secretRef = { name: 'hook', key: 'secret' };
const webhook = { enabled: true, port: 8443 };
const config = { webhookReceiverPort: 8443, receiverSecret: undefined, allowUnauthenticatedWebhooks: false };
const none = receiverEnvironment({ WEBHOOK_HMAC_SECRET: '' });
const active = { status: true, reason: 'ListenerActive', message: 'webhooks are received on port 8443' } as const;

it.each<readonly [string, Partial<WebhookFacts>, Partial<WebhookCondition>]>([
  ['with a secret of its own', { webhook: { ...webhook, secretRef } }, active],
  ['with the Secret of the operator', { config: { ...config, receiverSecret: { name: 'a' } } }, active],
  ['with a secret in the environment', { environment: receiverEnvironment({ WEBHOOK_HMAC_SECRET: 'a' }) }, active],
  ['with a token in the environment', { environment: receiverEnvironment({ WEBHOOK_BEARER_TOKEN: 'a' }) }, active],
  ['without any secret', {}, { status: false, reason: 'Unauthenticated' }],
  [
    'without any secret where none is needed',
    { config: { ...config, allowUnauthenticatedWebhooks: true } },
    { status: true, reason: 'Unauthenticated' },
  ],
  [
    'with a Secret that is missing',
    { webhook: { ...webhook, secretRef }, secretProblem: 'the Secret hook does not exist; create it' },
    {
      status: false,
      reason: 'Unauthenticated',
      message:
        'every request gets 401, because webhook.secretRef cannot be used: the Secret hook does not exist; create it',
    },
  ],
  [
    'with a Secret that is missing, which is not needed',
    {
      webhook: { ...webhook, secretRef },
      secretProblem: 'missing',
      config: { ...config, receiverSecret: { name: 'a' } },
    },
    active,
  ],
  [
    'with another port',
    { webhook: { ...webhook, port: 9000, secretRef } },
    {
      ...active,
      message: 'webhooks are received on port 8443, which all IgnitionSyncs share; webhook.port 9000 has no effect',
    },
  ],
  ['that is disabled', { webhook: { ...webhook, enabled: false } }, { status: false, reason: 'WebhookDisabled' }],
  [
    'without a listener',
    { config: { ...config, webhookReceiverPort: 0 } },
    { status: false, reason: 'ListenerDisabled' },
  ],
])('the condition of a webhook %s', (_, facts, expected) => {
  expect(webhookCondition({ webhook, config, environment: none, ...facts })).toMatchObject(expected);
});
