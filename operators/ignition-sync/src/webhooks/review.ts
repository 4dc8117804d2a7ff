import { admit, validating } from '@bowline/runtime';
import type { AuthorReviewDeps } from '@bowline/runtime/access';
import type { Webhook } from '@bowline/runtime/webhook';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { secretNames } from '../api/secret-names.ts';
import { authors } from '../authorization/author-review.ts';

/**
 * review is the webhook that admits an IgnitionSync only if its author may read every Secret that its spec names. Fields are
 * validated by the schema of the kind. Deletions and changes of annotations are not reviewed.
 */
export const review: Webhook<AuthorReviewDeps> = validating(IgnitionSync, authors.webhook)
  .using<AuthorReviewDeps>()
  .handle(async (request) => {
    const { namespace = '', object } = request;
    const needed = secretNames(object.spec).map((name) => ({
      verb: 'get',
      resource: 'secrets',
      namespace,
      name,
    }));
    return (await authors.denial(request, needed)) ?? admit();
  });
