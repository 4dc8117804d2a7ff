import type { PolicyRule } from '@bowline/kubernetes';
import { operatorIdentity } from '../identity/operator-identity.ts';
import type { Webhook } from './webhook.ts';
import type { CertificateOptions } from './webhooks-options.ts';

/** WebhookRulesOptions configures what the runtime manages for an operator's webhooks. */
export interface WebhookRulesOptions {
  readonly operator: string;
  /** The operator's domain. */
  readonly domain: string;
  readonly webhooks: readonly Pick<Webhook, 'type'>[];
  /** Defaults to `{ kind: 'managed' }`. */
  readonly certificates?: CertificateOptions | undefined;
  /** Defaults to `chart`. */
  readonly configurations?: 'chart' | 'runtime' | undefined;
  /** Defaults to `<vendor>-<operator>`. */
  readonly configurationName?: string | undefined;
}

/** WebhookRules holds the permissions that the runtime itself needs for webhooks, without those of the handlers. */
export interface WebhookRules {
  /** In the operator's own namespace. */
  readonly namespaced: readonly PolicyRule[];
  readonly cluster: readonly PolicyRule[];
}

/**
 * webhookRules returns the RBAC rules for certificates and configurations, restricted by name wherever RBAC allows it.
 */
export function webhookRules(options: WebhookRulesOptions): WebhookRules {
  const { operator, certificates = { kind: 'managed' }, configurations = 'chart' } = options;
  const name = options.configurationName ?? operatorIdentity({ name: operator, domain: options.domain }).objectName;
  const own = configurations === 'runtime';
  const reads = ['get', 'list', 'watch'];
  const secret = (secretName: string, verbs: readonly string[]): PolicyRule => ({
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: [secretName],
    verbs,
  });
  const writesConfigurations = certificates.kind === 'managed' || certificates.inject || own;
  const resources = (['validating', 'mutating'] as const)
    .filter((type) => options.webhooks.some((webhook) => webhook.type === type))
    .map((type) => `${type}webhookconfigurations`);
  const configuration = { apiGroups: ['admissionregistration.k8s.io'], resources };
  return {
    namespaced: [
      ...(certificates.kind === 'managed'
        ? [
            secret(`${operator}-webhook-tls`, [...reads, 'update']),
            // RBAC cannot restrict a create to a name, because the name is in the body.
            { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
          ]
        : []),
      ...(certificates.kind === 'secret' ? [secret(certificates.name, reads)] : []),
    ],
    cluster: writesConfigurations
      ? [
          { ...configuration, resourceNames: [name], verbs: [...reads, own ? 'update' : 'patch'] },
          ...(own ? [{ ...configuration, verbs: ['create'] }] : []),
        ]
      : [],
  };
}
