import type { ApiRequest } from '../http/api-request.ts';
import type { UserInfo } from './user-info.ts';

/** Authenticator finds out who asks. */
export interface Authenticator {
  /** authenticate is undefined when what the request shows is not valid; who shows nothing is anonymous. */
  authenticate(request: ApiRequest): Promise<UserInfo | undefined> | UserInfo | undefined;
}
