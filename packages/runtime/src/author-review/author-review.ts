import { isDeepStrictEqual } from 'node:util';
import { Namespace, type Resource, type UserInfo, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import { AccessReviews } from '../access/access-reviews.ts';
import { describeAccess } from '../access/describe-access.ts';
import { type MetadataObject, type ProjectView, project } from '../cache/view.ts';
import type { AccessQuestion, Client, Subject } from '../client/client.ts';
import { changed, type Predicate } from '../controller/predicates.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { OperatorId } from '../identity/operator-identity.ts';
import { type Denied, deny } from '../webhook/admission-response.ts';
import { OWN_WEBHOOKS } from '../webhook/own-webhooks.ts';
import { type WebhookOptions, webhookFullName } from '../webhook/webhook.ts';
import { isAlwaysCalled, type ReviewConfiguration, SPEC_CHANGED } from './webhook-coverage.ts';

/** AuthorReviewOptions identifies the webhook that reviews authors. */
export interface AuthorReviewOptions {
  /** The operator's name and domain, as on `defineOperator`. */
  readonly operator: OperatorId;
  /** The name of the webhook. Defaults to `review`. */
  readonly name?: string | undefined;
}

/** AuthorReviewDeps is the part of an operator's dependencies that decides which authors are reviewed. */
export interface AuthorReviewDeps {
  readonly config: {
    /** Act on every object, whether its author was reviewed or not. */
    readonly trustAllAuthors: boolean;
  };
  /** The manager's own namespace, for which webhooks are never called: `namespace` of `setup`. */
  readonly ownNamespace: string;
  /** The namespaces that the manager is limited to: `namespaces` of `setup`. */
  readonly namespaces?: readonly string[] | undefined;
}

/** AuthorReviewFacts gives access to the known state of the cluster. The context of a controller or webhook has it. */
export interface AuthorReviewFacts {
  /** Reads the labels of namespaces. Without it, only selectors of their names are known to match. */
  get?(kind: typeof Namespace, key: { readonly name: string }): MetadataObject | undefined;
  list(kind: typeof ValidatingWebhookConfiguration): readonly ReviewConfiguration[];
  readonly deps: AuthorReviewDeps;
}

/** AuthorRequest is the part of an admission request that identifies its author. */
export interface AuthorRequest {
  readonly userInfo: UserInfo;
  readonly live: Pick<Client, 'canSubject'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly signal: AbortSignal;
  readonly deps: Pick<AuthorReviewDeps, 'namespaces'>;
}

/** AuthorReview reviews the authors of one kind, and decides where its objects may be acted on. */
export interface AuthorReview {
  /** The options of the webhook: `validating(Kind, authors.webhook)`. It is called whenever a spec is new or changes. */
  readonly webhook: WebhookOptions<'CREATE' | 'UPDATE', 'None'>;
  /**
   * The options of the source that observes whether the webhook is installed:
   * `.watches(ValidatingWebhookConfiguration, { ...authors.configuration, map })`, and `.reads` of a webhook.
   */
  readonly configuration: {
    readonly fieldSelector: string;
    readonly view: ProjectView<ValidatingWebhookConfiguration, ReviewConfiguration>;
    readonly when: Predicate<ReviewConfiguration>;
  };
  /** reviewsOf returns the reviews of one request. Nothing is cached: a permission that was just granted counts. */
  reviewsOf(request: AuthorRequest): AccessReviews;
  /** denial returns the response to an author who lacks one of these permissions. Undefined: all are granted. */
  denial(
    request: AuthorRequest,
    needed: readonly AccessQuestion[],
    reviews?: AccessReviews,
  ): Promise<Denied | undefined>;
  /**
   * isTrustedIn reports whether objects of a namespace may be acted on: the API server refuses every new or changed spec
   * there that the webhook has not admitted, or all authors are trusted.
   */
  isTrustedIn(facts: AuthorReviewFacts, namespace: string): boolean;
  /** unreviewed returns the message of the condition with the reason AUTHOR_NOT_REVIEWED. */
  unreviewed(namespace: string): string;
}

/** AUTHOR_NOT_REVIEWED is the reason in the status of an object that is not acted on, because `isTrustedIn` is false. */
export const AUTHOR_NOT_REVIEWED = 'AuthorNotReviewed';

/** Certificates change, and do not decide whether authors are reviewed. */
const configurationView = project(
  ({ webhooks }: ValidatingWebhookConfiguration): ReviewConfiguration => ({
    webhooks: webhooks?.map((webhook) => ({ ...webhook, clientConfig: {} })),
  }),
);

/**
 * authorReview reviews the authors of a kind whose objects make the operator read or write something with its own
 * permissions: a validating webhook admits a spec only if its author has the same permissions, and the controller acts
 * only where this is enforced. The kind is namespaced.
 *
 * @example
 * const authors = authorReview(Page, { operator: { name: 'pages', domain: 'example.com' } });
 * const review = validating(Page, authors.webhook)
 *   .using<AuthorReviewDeps>()
 *   .handle(async (request) => {
 *     const { namespace, object } = request;
 *     const needed = [{ verb: 'get', resource: 'secrets', namespace, name: object.spec.secretName }];
 *     return (await authors.denial(request, needed)) ?? admit();
 *   });
 */
export function authorReview(kind: Resource, { operator, name = 'review' }: AuthorReviewOptions): AuthorReview {
  if (kind.scope !== 'Namespaced') {
    throw new BowlineError(
      'BOWLINE_WEBHOOK_INVALID',
      `cannot review the authors of ${kind.kind}: the kind must be namespaced`,
    );
  }
  const webhookName = webhookFullName(operator, { name });
  const reviewsOf: AuthorReview['reviewsOf'] = ({ live, clock, deps }) =>
    new AccessReviews({ client: live, clock, local: deps.namespaces !== undefined, keepMs: 0 });
  return Object.freeze<AuthorReview>({
    webhook: {
      name,
      operations: ['CREATE', 'UPDATE'],
      matchConditions: [SPEC_CHANGED],
      failurePolicy: 'Fail',
    },
    configuration: {
      fieldSelector: OWN_WEBHOOKS,
      view: configurationView,
      when: changed((before, after) => !isDeepStrictEqual(before, after)),
    },
    reviewsOf,
    denial: async (request, needed, reviews = reviewsOf(request)) => {
      const { userInfo, signal } = request;
      const missing = await reviews.missing(subjectOf(userInfo), needed, { signal });
      if (missing.length === 0) return undefined;
      return deny(
        `${userInfo.username} lacks permissions that this ${kind.kind} needs: ${describeAccess(missing)}; grant them with RBAC`,
      );
    },
    isTrustedIn: ({ get, list, deps }, namespace) => {
      if (deps.config.trustAllAuthors) return true;
      if (namespace === deps.ownNamespace) return false;
      const labels = get?.(Namespace, { name: namespace })?.metadata.labels;
      return list(ValidatingWebhookConfiguration).some((configuration) =>
        isAlwaysCalled({ configuration, webhookName, kind, namespace: { name: namespace, labels } }),
      );
    },
    unreviewed: (namespace) =>
      `the permissions of the author were not reviewed, because no webhook covers namespace ${namespace}; install the webhook configuration for it, use a namespace other than that of the manager, or run the manager with --trust-all-authors`,
  });
}

function subjectOf({ username = '', uid, groups, extra }: UserInfo): Subject {
  return {
    user: username,
    ...(uid === undefined ? {} : { uid }),
    ...(groups === undefined ? {} : { groups }),
    ...(extra === undefined ? {} : { extra }),
  };
}
