// The messages of the contract as JavaScript objects. The type of a field is derived from the message's declaration in
// `contract.ts` by hand: bytes are Buffers, 64-bit integers are numbers, and optional fields may be missing.

/** EmptyMessage has no fields. */
export type EmptyMessage = Readonly<Record<never, never>>;

/** PathMessage names a secret. */
export interface PathMessage {
  readonly path: string;
}

/** PathsMessage names several secrets. */
export interface PathsMessage {
  readonly paths: readonly string[];
}

/** PrefixMessage selects the secrets at and below a path; an empty prefix selects all. */
export interface PrefixMessage {
  readonly prefix: string;
}

/** TextEntryMessage is one entry of a map of texts. */
export interface TextEntryMessage {
  readonly key: string;
  readonly value: string;
}

/** DataEntryMessage is one value of a secret. */
export interface DataEntryMessage {
  readonly key: string;
  readonly value: Buffer;
}

/** MetadataMessage describes a secret. Writers may not choose the first four fields. */
export interface MetadataMessage {
  readonly version?: number | undefined;
  readonly timestamp?: string | undefined;
  readonly isDeleted?: boolean | undefined;
  readonly createdAt?: string | undefined;
  readonly description?: string | undefined;
  readonly labels?: readonly TextEntryMessage[] | undefined;
  readonly format?: string | undefined;
  readonly dataType?: string | undefined;
  readonly source?: string | undefined;
}

/** SecretMessage is a secret with its values. */
export interface SecretMessage {
  readonly data: readonly DataEntryMessage[];
  readonly metadata?: MetadataMessage | undefined;
  readonly checksum: string;
}

/** GuardMessage holds the versions of a write: that which it replaces, and that of the new content. */
export interface GuardMessage {
  readonly replaces?: number | undefined;
  readonly version?: number | undefined;
  readonly timestamp?: string | undefined;
}

/** WriteMessage is a secret to write. */
export interface WriteMessage extends GuardMessage {
  readonly path: string;
  readonly data: readonly DataEntryMessage[];
  readonly metadata?: MetadataMessage | undefined;
}

/** DeleteMessage names a secret to delete, or one key of it. */
export interface DeleteMessage extends GuardMessage {
  readonly path: string;
  readonly key?: string | undefined;
}

/** PurgeMessage names a tombstone to remove. */
export interface PurgeMessage {
  readonly path: string;
  readonly version: number;
}

/** SummaryMessage describes a secret or a tombstone without values. */
export interface SummaryMessage {
  readonly path: string;
  readonly version: number;
  readonly timestamp?: string | undefined;
  readonly isDeleted: boolean;
  readonly checksum?: string | undefined;
  readonly keys: readonly string[];
}

/** SummariesMessage is a list of summaries. */
export interface SummariesMessage {
  readonly secrets: readonly SummaryMessage[];
}

/** TokenMessage describes a token. */
export interface TokenMessage {
  readonly label: string;
  readonly serialNumber: string;
  readonly manufacturer: string;
  readonly model: string;
  readonly isUserPinInitialized: boolean;
  readonly isPinCountLow: boolean;
  readonly isPinFinalTry: boolean;
  readonly isPinLocked: boolean;
}

/** ProblemMessage explains why a token cannot be used. */
export interface ProblemMessage {
  readonly reason: string;
  readonly message: string;
}

/** InfoMessage describes the state of an agent. */
export interface InfoMessage {
  readonly token?: TokenMessage | undefined;
  readonly isLoggedIn: boolean;
  readonly problem?: ProblemMessage | undefined;
  readonly isSimulated: boolean;
  readonly wasProvisioned: boolean;
}

/** ConnectedMessage reports whether the token responds and is logged in. */
export interface ConnectedMessage {
  readonly isConnected: boolean;
}

/** HealthMessage reports whether the agent can use its token, and if not, why. */
export interface HealthMessage {
  readonly isHealthy: boolean;
  readonly problem?: ProblemMessage | undefined;
}

/** PinMessage holds a new PIN. */
export interface PinMessage {
  readonly newPin: Buffer;
}

/** NonceMessage holds a nonce to authenticate. */
export interface NonceMessage {
  readonly nonce: Buffer;
}

/** ProofMessage holds the HMAC of a nonce. */
export interface ProofMessage {
  readonly proof: Buffer;
}
