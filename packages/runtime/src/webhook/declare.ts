import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { describeProblems, validateLabelSelector } from '@bowline/machinery';
import type { View } from '../cache/view.ts';
import type { NotYetDeclared, Source, SourceOf, SourceOptions } from '../controller/sources.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { AdmissionRequest, LiveFor, SideEffects } from './admission-request.ts';
import type { MutatingResponse, ValidatingResponse } from './admission-response.ts';
import type { Operation } from './admission-review.ts';
import type { ConfiguredBy, MutatingOptions, Webhook, WebhookOptions } from './webhook.ts';

/**
 * WebhookStep declares what the handler reads and ends with `handle`. Each method returns a new builder and does not
 * modify the old one.
 */
export interface WebhookStep<T, O extends Operation, E extends SideEffects, A, S, Deps, Config = unknown> {
  /** reads lets the handler read a kind from the cache, which every replica keeps warm. */
  reads<
    U extends KubernetesObject,
    Id extends string,
    V extends View<U> = 'full',
    I extends string = never,
    N extends string = Id,
  >(
    kind: Resource<U, Id> & NotYetDeclared<S, N>,
    options?: SourceOptions<U, V, I> & { readonly as?: N | undefined },
  ): WebhookStep<T, O, E, A, S & { readonly [K in N]: SourceOf<Resource<U, Id>, V, I> }, Deps, Config>;

  /**
   * handle sets the handler. An error it throws is logged and becomes a failed call, for which `failurePolicy` decides.
   * To deny a request, return `deny(…)`.
   */
  handle(
    fn: (request: AdmissionRequest<T, O, S, Deps, LiveFor<E>>) => A | Promise<A>,
  ): Webhook<Deps> & ConfiguredBy<Config>;
}

/** WebhookStart is the first step, which may also declare the handler's dependencies. */
export interface WebhookStart<T, O extends Operation, E extends SideEffects, A, Config = unknown>
  extends WebhookStep<T, O, E, A, unknown, unknown, Config> {
  /** using sets the type of `request.deps`; the operator's `setup` must return it. */
  using<Deps>(): WebhookStep<T, O, E, A, unknown, Deps, Config>;
}

/**
 * validating declares a webhook that allows or denies requests after all mutations of their object.
 *
 * @example
 * const names = validating(ConfigMap, { name: 'names', operations: ['CREATE'] })
 *   .handle(({ name }) => (name?.startsWith('tmp-') ? deny('names that start with tmp- are reserved') : admit()));
 */
export function validating<
  T extends KubernetesObject,
  const O extends Operation,
  const E extends SideEffects = 'None',
  Config = unknown,
>(kind: Resource<T>, options: WebhookOptions<O, E, Config>): WebhookStart<T, O, E, ValidatingResponse, Config> {
  // Matching types were checked where the caller specified them; inside the builder they are erased.
  return builder(checked('validating', kind, options), []) as never;
}

/**
 * mutating declares a webhook that may change objects before they are validated and stored. It may be called again with
 * its own result, so it must be idempotent.
 *
 * @example
 * const team = mutating(ConfigMap, { name: 'team', operations: ['CREATE'] })
 *   .handle(({ object }) => ({ ...object, metadata: { ...object.metadata, labels: { team: 'a',
 * ...object.metadata?.labels } } }));
 */
export function mutating<
  T extends KubernetesObject,
  const O extends 'CREATE' | 'UPDATE',
  const E extends SideEffects = 'None',
  Config = unknown,
>(kind: Resource<T>, options: MutatingOptions<O, E, Config>): WebhookStart<T, O, E, MutatingResponse<T>, Config> {
  return builder(checked('mutating', kind, options), []) as never;
}

type AnyOptions = MutatingOptions<Operation, SideEffects, never>;

type Checked = Omit<Webhook, 'sources' | 'handle' | 'needs'>;

/** The builder itself is untyped: the interfaces above are its types, one per step, and nothing else is reachable. */
function builder(webhook: Checked, sources: readonly Source[]) {
  return {
    using: () => builder(webhook, sources),
    reads: (of: Resource, given: SourceOptions<never, never, string> & { readonly as?: string } = {}) => {
      const added = source(of, given);
      if (sources.some(({ name }) => name === added.name)) {
        throw refusal(webhook, `${added.name} is declared twice; name one of them with "as"`);
      }
      return builder(webhook, [...sources, added]);
    },
    handle: (handle: Webhook['handle']): Webhook => Object.freeze({ ...webhook, sources, handle }),
  };
}

function source(kind: Resource, options: SourceOptions<never, never, string> & { readonly as?: string }): Source {
  const {
    as,
    view = 'full',
    namespaces,
    labelSelector,
    fieldSelector,
    clusterWideOnly = false,
    indexes = {},
  } = options;
  return {
    role: 'watches',
    name: as ?? kind.id,
    resource: kind,
    view,
    namespaces,
    labelSelector,
    fieldSelector,
    clusterWideOnly,
    // The index functions were checked against the view where the caller specified both.
    indexes: indexes as Source['indexes'],
    when: () => true,
    map: undefined,
  };
}

/** The groups served by Kubernetes itself: those without a dot, and those under k8s.io. */
function isBuiltIn(kind: Resource): boolean {
  return !kind.group.includes('.') || kind.group.endsWith('.k8s.io');
}

function refusal({ name }: { readonly name: string }, problem: string): BowlineError {
  return new BowlineError('BOWLINE_WEBHOOK_INVALID', `cannot declare the webhook "${name}": ${problem}`);
}

/** checked fills in the defaults, and throws for declarations that the API server would reject or that cannot work. */
function checked(type: Webhook['type'], kind: Resource, options: AnyOptions): Checked {
  const webhook: Checked = {
    type,
    name: options.name,
    kind,
    operations: options.operations,
    subresources: options.subresources ?? [],
    matchConditions: options.matchConditions ?? [],
    namespaceSelector: options.namespaceSelector ?? {},
    objectSelector: options.objectSelector ?? {},
    failurePolicy: options.failurePolicy ?? 'Ignore',
    timeoutSeconds: options.timeoutSeconds ?? 10,
    sideEffects: options.sideEffects ?? 'None',
    reinvocationPolicy: options.reinvocationPolicy ?? 'Never',
    path: options.path,
  };
  const problem = problemOf(webhook);
  if (problem !== undefined) throw refusal(webhook, problem);
  return webhook;
}

function problemOf(webhook: Checked): string | undefined {
  const { type, name, kind, operations, timeoutSeconds, path } = webhook;
  if (!/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
    return 'the name must be a DNS label (lower-case letters, digits and dashes, at most 63)';
  }
  if (operations.length === 0) return 'it has no operations; list at least one of CREATE, UPDATE, DELETE, CONNECT';
  if (new Set(operations).size < operations.length) return 'an operation is listed twice';
  const unchangeable = operations.find((each) => each === 'DELETE' || each === 'CONNECT');
  if (type === 'mutating' && unchangeable) return `${unchangeable} has no object that could be changed`;
  if (!Number.isInteger(timeoutSeconds) || timeoutSeconds < 1 || timeoutSeconds > 30) {
    return 'timeoutSeconds must be a whole number from 1 to 30';
  }
  if (webhook.failurePolicy === 'Fail' && isBuiltIn(kind)) {
    return `failurePolicy Fail on ${kind.kind} would make the whole cluster depend on this operator; use Ignore, or a kind of your own`;
  }
  if (path !== undefined && !/^\/[-a-zA-Z0-9_./]*$/.test(path)) {
    return 'the path must start with a slash and contain only letters, digits, dashes, dots, underscores and slashes';
  }
  for (const field of ['namespaceSelector', 'objectSelector'] as const) {
    const selector = webhook[field];
    // One that depends on the configuration is checked with it.
    const problems = typeof selector === 'function' ? [] : validateLabelSelector(selector, field);
    if (problems.length > 0) return describeProblems(problems);
  }
  return undefined;
}

/** withNamespaceSelector returns a webhook whose namespace selector is that for a parsed configuration. */
export function withNamespaceSelector(webhook: Webhook, config: never): Webhook {
  const { namespaceSelector } = webhook;
  if (typeof namespaceSelector !== 'function') return webhook;
  const configured: Webhook = { ...webhook, namespaceSelector: namespaceSelector(config) };
  const problem = problemOf(configured);
  if (problem !== undefined) throw refusal(webhook, problem);
  return Object.freeze(configured);
}
