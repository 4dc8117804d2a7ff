/** UserInfo is who asks, as authentication or impersonation found. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** ALL_AUTHENTICATED is the group of everybody who showed who they are. */
export const ALL_AUTHENTICATED = 'system:authenticated';

/** ALL_UNAUTHENTICATED is the group of who shows nothing. */
export const ALL_UNAUTHENTICATED = 'system:unauthenticated';

/** MASTERS is the group whose members may do everything, whatever roles there are. */
export const MASTERS = 'system:masters';

/** CREDENTIAL_ID is the extra field that names what somebody showed, so that audit logs tell credentials apart. */
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

/** ANONYMOUS is who shows nothing. */
export const ANONYMOUS: UserInfo = Object.freeze({
  username: 'system:anonymous',
  groups: Object.freeze([ALL_UNAUTHENTICATED]),
});
