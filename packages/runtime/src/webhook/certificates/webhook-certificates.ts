import type { CertificateProfile } from '../../certificates/certificate-profile.ts';
import type { CertificatePolicy } from '../../certificates/plan.ts';
import type { OperatorIdentity } from '../../identity/operator-identity.ts';
import { serverNames, type WebhookAddress } from '../configurations.ts';
import type { ManagedCertificateOptions } from '../webhooks-options.ts';

const DAY_MS = 24 * 3_600_000;

/** WEBHOOK_CONTESTED reports that another client keeps changing the Secret or a configuration. */
export const WEBHOOK_CONTESTED = 'BOWLINE_WEBHOOK_CONTESTED';

/** webhookProfile returns the profile of the certificates of an operator's webhooks. */
export function webhookProfile(identity: OperatorIdentity): CertificateProfile {
  return {
    operator: identity.name,
    noun: 'webhook certificate',
    nameUse: 'the names by which the API server calls the webhook',
    codes: {
      unusable: 'BOWLINE_WEBHOOK_CERTIFICATE',
      foreign: 'BOWLINE_WEBHOOK_SECRET_FOREIGN',
      contested: WEBHOOK_CONTESTED,
    },
    vendor: identity.vendor,
    label: identity.labels.webhooksOf,
    previousAuthorityUntil: identity.annotations.previousAuthorityUntil,
    fieldManager: identity.fieldManagers.webhooks,
    expiryMetric: 'bowline_webhook_certificate_expiry_timestamp_seconds',
  };
}

/** webhookPolicy returns the policy of the certificate with which an operator serves its webhooks at an address. */
export function webhookPolicy(
  identity: OperatorIdentity,
  address: WebhookAddress,
  options: Omit<ManagedCertificateOptions, 'kind'>,
): CertificatePolicy {
  return {
    authorityName: `${identity.objectName}-webhook-ca`,
    leafName: `${identity.name}-webhook`.slice(0, 64),
    usages: ['server'],
    names: serverNames(address),
    leafValidForMs: options.leafValidForMs ?? 90 * DAY_MS,
    authorityValidForMs: options.authorityValidForMs ?? 365 * DAY_MS,
    propagationMs: options.propagationMs ?? 120_000,
    issuesOtherLeaves: false,
  };
}
