import type { TokenReviewSpec } from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';
import type { TokenAuthenticator } from '../authentication/create-authenticator.ts';
import type { UserInfo } from '../authentication/user-info.ts';
import type { ComputeResponse } from '../registry/api-resource.ts';
import { badRequest } from '../status/api-status.ts';

/** tokenReview returns the user of a token that another server received. */
export function tokenReview(authenticator: TokenAuthenticator): ComputeResponse {
  return (draft) => {
    // Decoding checked the schema of the kind.
    const { token = '', audiences = [] } = (draft.spec ?? {}) as TokenReviewSpec;
    if (token === '') throw badRequest('token is required for TokenReview in authentication');
    const outcome = authenticator.authenticateToken(token.trim(), audiences.length === 0 ? undefined : audiences);
    if (!('user' in outcome)) {
      const { problem } = outcome;
      const error = problem === undefined ? 'invalid bearer token' : `[invalid bearer token, ${problem}]`;
      return { ...draft, status: { user: {}, error } };
    }
    return { ...draft, status: { authenticated: true, user: toUserInfo(outcome.user), audiences: outcome.audiences } };
  };
}

/** selfSubjectReview returns the requesting user. */
export const selfSubjectReview: ComputeResponse = (_draft, { user, now }) => ({
  metadata: { creationTimestamp: formatTime(now) },
  status: { userInfo: toUserInfo(user) },
});

function toUserInfo({ username, uid, groups, extra }: UserInfo): UserInfo {
  return { username, uid: uid || undefined, groups, extra };
}
