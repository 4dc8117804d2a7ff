// The entry of `@bowline/runtime/access`: who may use an HTTP API of an operator, and whose objects it acts on.
export { AccessReviews, type AccessReviewsOptions, type MissingOptions } from '../access/access-reviews.ts';
export { describeAccess } from '../access/describe-access.ts';
export { serviceAccountSubject } from '../access/service-account-subject.ts';
export { type AccessDecision, TokenAccess, type TokenAccessOptions } from '../access/token-access.ts';
export {
  AUTHOR_NOT_REVIEWED,
  type AuthorRequest,
  type AuthorReview,
  type AuthorReviewDeps,
  type AuthorReviewFacts,
  type AuthorReviewOptions,
  authorReview,
} from '../author-review/author-review.ts';
export { REVIEW_PERMISSIONS } from '../author-review/review-permissions.ts';
export type { ReviewConfiguration } from '../author-review/webhook-coverage.ts';
