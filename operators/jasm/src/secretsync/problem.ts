/** Problem is why a Secret is not as its askers want it, for their pods' events. */
export interface Problem {
  readonly reason:
    | 'SecretConflict'
    | 'SecretFetchFailed'
    | 'SecretSyncFailed'
    | 'SecretParseFailed'
    | 'SecretKeyMissing'
    | 'SecretKeyInvalid'
    | 'SecretTooLarge'
    | 'PathNotPermitted';
  /** Names the Secret, what is wrong, and what to do; without values. */
  readonly message: string;
}
