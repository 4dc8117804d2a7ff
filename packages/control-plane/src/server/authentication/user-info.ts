/** UserInfo is who asks, as authentication or impersonation found. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** ANONYMOUS is who shows nothing. */
export const ANONYMOUS: UserInfo = Object.freeze({
  username: 'system:anonymous',
  groups: Object.freeze(['system:unauthenticated']),
});
