import type { UserInfo } from '../authentication/user-info.ts';
import type { RequestInfo } from '../http/request-info.ts';

/** Decision is an answer to: may they? */
export interface Decision {
  readonly allowed: boolean;
  /** Why, in the API server's words. */
  readonly reason: string;
}

/** Authorizer decides what somebody may do. */
export interface Authorizer {
  authorize(user: UserInfo, info: RequestInfo): Promise<Decision> | Decision;
}
