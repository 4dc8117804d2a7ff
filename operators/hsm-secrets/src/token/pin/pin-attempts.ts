/** PinAttempt records that a PIN was tried without success. */
export interface PinAttempt {
  /** See `hashPin`. */
  readonly hash: string;
  /** `unknown` from before the attempt until its result is known. */
  readonly outcome: 'unknown' | 'refused';
}

/** PinAttempts is the record of the PINs that must not be tried again. */
export interface PinAttempts {
  readonly salt: string;
  readonly attempts: readonly PinAttempt[];
}

/** PinAttemptStore keeps the record beyond the life of the process. Its methods are synchronous, like the token's. */
export interface PinAttemptStore {
  /** read returns undefined if nothing was ever written, and 'unreadable' if the record is damaged. */
  read(): PinAttempts | 'unreadable' | undefined;
  write(attempts: PinAttempts): void;
}
