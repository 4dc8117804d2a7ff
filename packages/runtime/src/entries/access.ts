// The entry of `@bowline/runtime/access`: HTTP APIs of operators, who may use them, and whose objects an operator acts on.
export { AccessReviews, type AccessReviewsOptions, type MissingOptions } from '../access/access-reviews.ts';
export { describeAccess } from '../access/describe-access.ts';
export { sendJson } from '../access/send-json.ts';
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
