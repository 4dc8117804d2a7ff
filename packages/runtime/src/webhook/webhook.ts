import type { LabelSelector, MatchCondition, Resource } from '@bowline/kubernetes';
import type { Source } from '../controller/sources.ts';
import type { OperatorId } from '../identity/operator-identity.ts';
import type { SideEffects } from './admission-request.ts';
import type { Operation } from './admission-review.ts';

/** WebhookOptions configures which requests a webhook reviews, and how. */
export interface WebhookOptions<O extends Operation, E extends SideEffects, Config = unknown> {
  /**
   * A DNS label, unique in its operator. Together with the operator's name it forms the webhook's path and its full
   * name, which users see when a request is denied.
   */
  readonly name: string;
  /** The reviewed operations; at least one. */
  readonly operations: readonly O[];
  /** Additional subresources to review, for example `status`. Defaults to none: only the object itself. */
  readonly subresources?: readonly string[] | undefined;
  /**
   * CEL conditions that must all be true, evaluated by the API server with `object`, `oldObject`, `request` and
   * `authorizer`: a request for which one is false is never sent here. Conditions that do not use `authorizer` are also
   * compiled here when the webhook is served. Defaults to none.
   */
  readonly matchConditions?: readonly MatchCondition[] | undefined;
  /**
   * Selects objects by the labels of their namespace. The operator's own namespace is always excluded. A function
   * computes it from the operator's configuration. Defaults to all others.
   */
  readonly namespaceSelector?: LabelSelector | ((config: Config) => LabelSelector) | undefined;
  /** Selects objects by their labels, before or after the change. Defaults to all. */
  readonly objectSelector?: LabelSelector | undefined;
  /**
   * How the API server handles a request when the webhook cannot be called, times out or fails. `Fail` is allowed only
   * for the operator's own kinds: on others it would make the cluster depend on this operator. Defaults to `Ignore`.
   */
  readonly failurePolicy?: 'Fail' | 'Ignore' | undefined;
  /** How long the API server waits, 1 to 30. The handler's signal is aborted a little earlier. Defaults to 10. */
  readonly timeoutSeconds?: number | undefined;
  /** Defaults to `None`. */
  readonly sideEffects?: E | undefined;
  /** The path it is served at. Defaults to `/<operator>/<name>`. */
  readonly path?: string | undefined;
}

/** MutatingOptions configures a mutating webhook. */
export interface MutatingOptions<O extends Operation, E extends SideEffects, Config = unknown>
  extends WebhookOptions<O, E, Config> {
  /** Whether the API server calls it again after another webhook changed the object. Defaults to `Never`. */
  readonly reinvocationPolicy?: 'IfNeeded' | 'Never' | undefined;
}

/**
 * Webhook is a complete declaration: the reviewed requests and the handler. It is served by every replica of its
 * operator. `Deps` is what it needs from the operator's `setup`.
 */
export interface Webhook<in Deps = never> {
  readonly type: 'validating' | 'mutating';
  readonly name: string;
  readonly kind: Resource;
  readonly operations: readonly Operation[];
  readonly subresources: readonly string[];
  readonly matchConditions: readonly MatchCondition[];
  /** `withConfig` returns the operator with the selector that it has. */
  readonly namespaceSelector: LabelSelector | ((config: never) => LabelSelector);
  readonly objectSelector: LabelSelector;
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly timeoutSeconds: number;
  readonly sideEffects: SideEffects;
  readonly reinvocationPolicy: 'IfNeeded' | 'Never';
  readonly path: string | undefined;
  /** The kinds its handler reads from the cache. */
  readonly sources: readonly Source[];
  /** Untyped here: the builder kept the function and the type of its request consistent. */
  readonly handle: (request: never) => unknown;
  /** Never set: it only carries the type `Deps`. */
  readonly needs?: (deps: Deps) => void;
}

/** ConfiguredBy carries the type of the configuration that a part of an operator depends on. */
export interface ConfiguredBy<in Config> {
  /** Never set: it only carries the type. */
  readonly configuredBy?: (config: Config) => void;
}

/** webhookPath returns the path at which a webhook of an operator is served. */
export function webhookPath(operator: string, webhook: Webhook): string {
  return webhook.path ?? `/${operator}/${webhook.name}`;
}

/** webhookFullName returns the name of a webhook in its configuration, in messages to users and in metrics. */
export function webhookFullName(operator: OperatorId, webhook: Pick<Webhook, 'name'>): string {
  return `${webhook.name}.${operator.name}.${operator.domain}`;
}
