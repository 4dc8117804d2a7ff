/** Problem reports why a Secret is not as requested, for the events of the requesting pods. */
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
  /** Names the Secret, the problem and its remedy; contains no values. */
  readonly message: string;
}
