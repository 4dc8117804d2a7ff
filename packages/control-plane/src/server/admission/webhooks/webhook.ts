import type { LabelSelector, RuleWithOperations, WebhookClientConfig } from '@bowline/kubernetes';
import type { Storage } from '../../storage/storage.ts';
import { objectOf, type Stored } from '../../storage/stored.ts';
import type { MatchCondition } from '../matching/conditions.ts';
import type { MatchRules } from '../matching/match-rules.ts';
import { type MatchSelectors, readSelector } from '../matching/selectors.ts';

/** WEBHOOK_COLLECTIONS holds the collections that store webhook configurations. */
export const WEBHOOK_COLLECTIONS = {
  mutating: 'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  validating: 'validatingwebhookconfigurations.admissionregistration.k8s.io',
} as const;

/** WebhookType distinguishes mutating and validating webhooks. */
export type WebhookType = keyof typeof WEBHOOK_COLLECTIONS;

/** Webhook is one webhook of a stored configuration, with defaults applied. */
export interface Webhook extends MatchRules, MatchSelectors {
  /** Identifies the webhook, also among others of the same name. */
  readonly id: string;
  readonly name: string;
  readonly configuration: string;
  readonly clientConfig: WebhookClientConfig;
  readonly failsOpen: boolean;
  readonly matchConditions: readonly MatchCondition[];
  readonly timeoutSeconds: number;
  readonly hasSideEffects: boolean;
  readonly isReinvoked: boolean;
}

/** WebhookFields holds the fields of both types of webhooks; fields of one type are absent in the other. */
interface WebhookFields {
  readonly name?: string | undefined;
  readonly clientConfig?: WebhookClientConfig | undefined;
  readonly rules?: readonly RuleWithOperations[] | undefined;
  readonly failurePolicy?: string | undefined;
  readonly matchPolicy?: string | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly objectSelector?: LabelSelector | undefined;
  readonly matchConditions?: readonly Partial<MatchCondition>[] | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly sideEffects?: string | undefined;
  readonly reinvocationPolicy?: string | undefined;
}

const DEFAULT_TIMEOUT_SECONDS = 10;

/** Every write reads the webhooks; a configuration is parsed once per stored state. */
const read = new WeakMap<Stored, readonly Webhook[]>();

/** webhooksIn returns all webhooks of a type, ordered by the name of their configuration and their position in it. */
export function webhooksIn(storage: Storage, type: WebhookType): readonly Webhook[] {
  const all: Webhook[] = [];
  for (const stored of storage.select(WEBHOOK_COLLECTIONS[type])) {
    let webhooks = read.get(stored);
    if (!webhooks) {
      webhooks = webhooksOf(stored);
      read.set(stored, webhooks);
    }
    all.push(...webhooks);
  }
  return all;
}

function webhooksOf(stored: Stored): Webhook[] {
  const { metadata, webhooks } = objectOf(stored) as ReturnType<typeof objectOf> & {
    readonly webhooks?: readonly WebhookFields[];
  };
  const configuration = metadata?.name ?? '';
  const seen = new Map<string, number>();
  return (webhooks ?? []).map((fields): Webhook => {
    const { name = '' } = fields;
    const same = seen.get(name) ?? 0;
    seen.set(name, same + 1);
    return {
      id: `${configuration}/${name}/${same}`,
      name,
      configuration,
      clientConfig: fields.clientConfig ?? {},
      rules: fields.rules ?? [],
      failsOpen: fields.failurePolicy === 'Ignore',
      matchesEquivalents: fields.matchPolicy !== 'Exact',
      namespaceSelector: readSelector(fields.namespaceSelector),
      objectSelector: readSelector(fields.objectSelector),
      matchConditions: (fields.matchConditions ?? []).map((each) => ({
        name: each.name ?? '',
        expression: each.expression ?? '',
      })),
      timeoutSeconds: fields.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
      hasSideEffects: fields.sideEffects !== 'None' && fields.sideEffects !== 'NoneOnDryRun',
      isReinvoked: fields.reinvocationPolicy === 'IfNeeded',
    };
  });
}
