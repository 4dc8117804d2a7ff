/** ProblemReason is why a secret is not delivered: the reason of the condition Synced. */
export type ProblemReason =
  | 'NotFound'
  | 'DeviceMissing'
  | 'DeviceAmbiguous'
  | 'NotPermitted'
  | 'NoAgent'
  | 'AgentFailed'
  | 'ForeignSecret'
  | 'KeyInvalid'
  | 'TooLarge'
  | 'WriteRefused'
  /** The Secret was changed, and is not repaired because of autoSync=false. */
  | 'OutOfSync';

/** SyncProblem is why a secret is not delivered. Its message never contains a value. */
export class SyncProblem extends Error {
  readonly reason: ProblemReason;

  constructor(reason: ProblemReason, message: string) {
    super(message);
    this.name = 'SyncProblem';
    this.reason = reason;
  }

  /** isPending reports whether the secret waits for a device, so that nothing is wrong with the HSMSecret. */
  get isPending(): boolean {
    return this.reason === 'DeviceMissing' || this.reason === 'NoAgent';
  }
}
