import type { LabelSelector, MatchCondition, Resource } from '@bowline/kubernetes';
import type { Source } from '../controller/sources.ts';
import type { OperatorId } from '../identity/operator-identity.ts';
import type { SideEffects } from './admission-request.ts';
import type { Operation } from './admission-review.ts';

/** WebhookOptions says which requests a webhook is asked about, and how. */
export interface WebhookOptions<O extends Operation, E extends SideEffects> {
  /**
   * A DNS label, unique in its operator. With the operator's name it makes the webhook's full name, which users see when
   * a request is refused, and its path.
   */
  readonly name: string;
  /** What is done to the object; at least one. */
  readonly operations: readonly O[];
  /** Subresources that are asked about too, for instance `status`. Defaults to none: the object alone. */
  readonly subresources?: readonly string[] | undefined;
  /**
   * CEL conditions that must all hold, evaluated by the API server with `object`, `oldObject`, `request` and `authorizer`: a
   * request that fails one never gets here. What does not use `authorizer` is compiled here too, when
   * the webhook is served. Defaults to none.
   */
  readonly matchConditions?: readonly MatchCondition[] | undefined;
  /** Only objects in such namespaces. The operator's own namespace is always left out. Defaults to all others. */
  readonly namespaceSelector?: LabelSelector | undefined;
  /** Only objects with such labels, before or after the change. Defaults to all. */
  readonly objectSelector?: LabelSelector | undefined;
  /**
   * What becomes of a request when the webhook cannot be asked, answers too late or fails. `Fail` is for the operator's
   * own kinds only: on others it would make a cluster depend on this operator. Defaults to `Ignore`.
   */
  readonly failurePolicy?: 'Fail' | 'Ignore' | undefined;
  /** How long the API server waits, 1 to 30. The handler's signal is aborted a little earlier. Defaults to 10. */
  readonly timeoutSeconds?: number | undefined;
  /** Defaults to `None`. */
  readonly sideEffects?: E | undefined;
  /** Where it is served. Defaults to `/<operator>/<name>`. */
  readonly path?: string | undefined;
}

/** MutatingOptions are those of a mutating webhook. */
export interface MutatingOptions<O extends Operation, E extends SideEffects> extends WebhookOptions<O, E> {
  /** Whether to ask again when another webhook changed the object afterwards. Defaults to `Never`. */
  readonly reinvocationPolicy?: 'IfNeeded' | 'Never' | undefined;
}

/**
 * Webhook is a finished declaration: which requests, and what is answered. It is served by every replica of its operator.
 * `Deps` is what it needs of the operator's `setup`.
 */
export interface Webhook<in Deps = never> {
  readonly type: 'validating' | 'mutating';
  readonly name: string;
  readonly kind: Resource;
  readonly operations: readonly Operation[];
  readonly subresources: readonly string[];
  readonly matchConditions: readonly MatchCondition[];
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly timeoutSeconds: number;
  readonly sideEffects: SideEffects;
  readonly reinvocationPolicy: 'IfNeeded' | 'Never';
  readonly path: string | undefined;
  /** What its handler reads from the cache. */
  readonly sources: readonly Source[];
  /** Untyped here: the builder held the function and the type of its request together. */
  readonly handle: (request: never) => unknown;
  /** Never set: carries `Deps`. */
  readonly needs?: (deps: Deps) => void;
}

/** webhookPath is where a webhook of an operator is served. */
export function webhookPath(operator: string, webhook: Webhook): string {
  return webhook.path ?? `/${operator}/${webhook.name}`;
}

/** webhookFullName is what a webhook is called in its configuration, in messages to users and in metrics. */
export function webhookFullName(operator: OperatorId, webhook: Pick<Webhook, 'name'>): string {
  return `${webhook.name}.${operator.name}.${operator.domain}`;
}
