/** UserInfo is the user of a request, as determined by authentication or impersonation. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** ALL_AUTHENTICATED is the group of all authenticated users. */
export const ALL_AUTHENTICATED = 'system:authenticated';

/** ALL_UNAUTHENTICATED is the group of requests without credentials. */
export const ALL_UNAUTHENTICATED = 'system:unauthenticated';

/** MASTERS is the group whose members may do everything, regardless of roles. */
export const MASTERS = 'system:masters';

/**
 * CREDENTIAL_ID is the extra field that identifies the credential, so that audit logs distinguish credentials of a
 * user.
 */
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

/** ANONYMOUS is the user of requests without credentials. */
export const ANONYMOUS: UserInfo = Object.freeze({
  username: 'system:anonymous',
  groups: Object.freeze([ALL_UNAUTHENTICATED]),
});
