import type {
  LabelSelector,
  MutatingWebhook,
  MutatingWebhookConfiguration,
  Resource,
  ValidatingWebhookConfiguration,
  WebhookClientConfig,
} from '@bowline/kubernetes';
import { diffJsonPatch } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import { MANAGED_BY, operatorIdentity } from '../identity/operator-identity.ts';
import { excludeNamespace, requireNamespaces } from './namespace-selector.ts';
import { type Webhook, webhookFullName, webhookPath } from './webhook.ts';

/** ServiceAddress is a Service in front of the replicas. */
export interface ServiceAddress {
  readonly namespace: string;
  readonly name: string;
  /** Defaults to 443. */
  readonly port?: number | undefined;
}

/** WebhookAddress is the address at which the API server calls the webhooks: a Service, or `https://host:port`. */
export type WebhookAddress = { readonly service: ServiceAddress } | { readonly url: string };

/** ConfigurationOptions configures the rendering of webhook configurations. */
export interface ConfigurationOptions {
  readonly operator: string;
  /** The operator's domain. */
  readonly domain: string;
  readonly webhooks: readonly Webhook[];
  readonly address: WebhookAddress;
  /**
   * The operator's own namespace. It is always excluded: an operator that is down must not prevent itself from
   * starting.
   */
  readonly ownNamespace: string;
  /**
   * The operator's own kinds, the only ones that may have failurePolicy Fail. Defaults to any kind that is not built
   * into Kubernetes.
   */
  readonly ownKinds?: readonly Resource[] | undefined;
  /** The configurations' name. Defaults to `<vendor>-<operator>`. */
  readonly name?: string | undefined;
  /** Restricts the webhooks to these namespaces, for example those of a test. Defaults to all but the own one. */
  readonly onlyNamespaces?: readonly string[] | undefined;
  /** Additional labels of the configurations. Defaults to none. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** WebhookConfiguration is either configuration type: they differ in one optional field only. */
export type WebhookConfiguration = MutatingWebhookConfiguration;

/** WebhookConfigurations holds the objects that register the webhooks; a type without webhooks is undefined. */
export interface WebhookConfigurations {
  readonly validating: ValidatingWebhookConfiguration | undefined;
  readonly mutating: MutatingWebhookConfiguration | undefined;
}

/**
 * webhookConfigurations renders the configurations of an operator's webhooks. It sets every field that the API server
 * would default, so that stored objects can be compared, but not `caBundle`, which the runtime writes. The same
 * declarations always return the same objects.
 */
export function webhookConfigurations(options: ConfigurationOptions): WebhookConfigurations {
  checkWebhooks(options);
  const { operator, webhooks } = options;
  const identity = operatorIdentity({ name: operator, domain: options.domain });
  const metadata = {
    name: options.name ?? identity.objectName,
    labels: { [MANAGED_BY]: identity.vendor, ...options.labels, [identity.labels.webhooksOf]: operator },
  };
  const entries = (type: Webhook['type']): MutatingWebhook[] =>
    webhooks
      .filter((webhook) => webhook.type === type)
      .map((webhook) => entry(webhook, options))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  const mutating = entries('mutating');
  const validating = entries('validating').map(({ reinvocationPolicy: _, ...each }) => each);
  const group = { apiVersion: 'admissionregistration.k8s.io/v1' } as const;
  return {
    validating:
      validating.length > 0
        ? { ...group, kind: 'ValidatingWebhookConfiguration', metadata, webhooks: validating }
        : undefined,
    mutating:
      mutating.length > 0
        ? { ...group, kind: 'MutatingWebhookConfiguration', metadata, webhooks: mutating }
        : undefined,
  };
}

/** checkWebhooks rejects webhooks that cannot be served or configured together. */
export function checkWebhooks(options: Pick<ConfigurationOptions, 'operator' | 'webhooks' | 'ownKinds'>): void {
  const refuse = (problem: string): never => {
    throw new BowlineError('BOWLINE_WEBHOOK_INVALID', `cannot use the webhooks of ${options.operator}: ${problem}`);
  };
  const names = new Set<string>();
  const paths = new Map<string, string>();
  for (const webhook of options.webhooks) {
    const path = webhookPath(options.operator, webhook);
    if (names.has(webhook.name))
      refuse(`the name "${webhook.name}" is used twice; names identify webhooks in metrics and paths`);
    if (paths.has(path))
      refuse(`"${paths.get(path)}" and "${webhook.name}" are both at ${path}; choose another path for one of them`);
    names.add(webhook.name);
    paths.set(path, webhook.name);
    const isOwn = options.ownKinds?.some(({ id }) => id === webhook.kind.id) ?? true;
    if (webhook.failurePolicy === 'Fail' && !isOwn) {
      refuse(
        `"${webhook.name}" has failurePolicy Fail on ${webhook.kind.kind}, which is not a kind of this operator; use Ignore`,
      );
    }
  }
}

function entry(webhook: Webhook, options: ConfigurationOptions): MutatingWebhook {
  const { kind, subresources, matchConditions } = webhook;
  return {
    name: webhookFullName({ name: options.operator, domain: options.domain }, webhook),
    admissionReviewVersions: ['v1'],
    clientConfig: clientConfig(options.address, webhookPath(options.operator, webhook)),
    rules: [
      {
        apiGroups: [kind.group],
        apiVersions: [kind.version],
        resources: [kind.plural, ...subresources.map((each) => `${kind.plural}/${each}`)],
        operations: webhook.operations,
        scope: kind.scope === 'Cluster' ? 'Cluster' : 'Namespaced',
      },
    ],
    failurePolicy: webhook.failurePolicy,
    // A request for another version of the kind is converted and reviewed too: otherwise it would bypass the rule.
    matchPolicy: 'Equivalent',
    namespaceSelector: namespaceSelector(webhook, options),
    objectSelector: webhook.objectSelector,
    sideEffects: webhook.sideEffects,
    timeoutSeconds: webhook.timeoutSeconds,
    ...(matchConditions.length > 0 ? { matchConditions } : {}),
    reinvocationPolicy: webhook.reinvocationPolicy,
  };
}

function namespaceSelector(
  { name, namespaceSelector: declared }: Webhook,
  { operator, onlyNamespaces, ownNamespace }: ConfigurationOptions,
): LabelSelector {
  if (typeof declared === 'function') {
    throw new BowlineError(
      'BOWLINE_OPERATOR_UNCONFIGURED',
      `cannot determine the namespaces of the webhook ${name} of the operator ${operator}: they depend on its configuration; provide it with withConfig(operator, section)`,
    );
  }
  return excludeNamespace(onlyNamespaces ? requireNamespaces(declared, onlyNamespaces) : declared, ownNamespace);
}

function clientConfig(address: WebhookAddress, path: string): WebhookClientConfig {
  if ('url' in address) return { url: new URL(path, address.url).href };
  const { namespace, name, port = 443 } = address.service;
  return { service: { namespace, name, port, path } };
}

/** serverNames returns the names a certificate must be valid for at this address. */
export function serverNames(address: WebhookAddress): readonly string[] {
  if ('service' in address) return [`${address.service.name}.${address.service.namespace}.svc`];
  return [new URL(address.url).hostname.replace(/^\[|\]$/g, '')];
}

/** differsFrom returns whether the webhooks of a stored configuration differ from the desired ones. */
export function differsFrom(stored: WebhookConfiguration, wanted: WebhookConfiguration): boolean {
  return diffJsonPatch(stored.webhooks ?? [], wanted.webhooks ?? []).length > 0;
}
