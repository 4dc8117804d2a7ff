import type { SecretSummary } from '../../../operators/hsm-secrets/src/token/token-service.ts';

const DAY_MS = 86_400_000;

/** Content is what a device has at a path; undefined if it has neither a secret nor a tombstone. */
export type Content = SecretSummary | undefined;

interface Stamp {
  readonly version: number;
  readonly timestamp: string | undefined;
}

/** Operation is a write or a deletion of a path. */
export interface Operation {
  /** Undefined for a deletion. */
  readonly checksum: string | undefined;
  readonly beganAt: number;
  /** The last acknowledged operation when this one began. */
  readonly previous: Operation | undefined;
  /** What each device had at that time, by serial number. */
  readonly before: ReadonlyMap<string, Content>;
  stamp: Stamp | undefined;
  endedAt: number;
  isAcknowledged: boolean;
}

/** Outcome is the result of an operation, as its client and its devices know it. */
export interface Outcome {
  readonly stamp: Stamp;
  /** Whether the client was told that it succeeded. */
  readonly isAcknowledged: boolean;
  /** The devices whose version the manager has read before it wrote. */
  readonly seen: ReadonlySet<string>;
  /** How many devices have accepted it. */
  readonly accepted: number;
  readonly devices: number;
}

/**
 * Ledger records the operations on one path, and judges the content that the devices have in the end.
 *
 * The promise: the last acknowledged operation is not lost, as long as one device that has it was not replaced. In the
 * end, all devices have this operation or one whose client got an error, which may take effect at any time. In
 * particular, an acknowledged operation that was followed by another one does not return, nor does a deleted secret.
 *
 * The promise begins with an operation that more than half of the devices have accepted, and ends
 * - when the path is written directly on a device: such a write chooses its version without the other devices;
 * - when less than a majority accepts an operation: with two devices, one of them accepts writes alone;
 * - with an operation that could not know of the last one, because no device that answered had it: with three or more
 *   devices, that can only happen after one was replaced.
 * It begins again with an operation that all devices have accepted.
 */
export class Ledger {
  readonly #operations: Operation[] = [];
  #last: Operation | undefined;
  #isPromised = true;
  #step = 0;

  /** promised returns the last acknowledged operation if it must not be lost. */
  get promised(): Operation | undefined {
    return this.#isPromised ? this.#last : undefined;
  }

  /** begin records that an operation starts. */
  begin(checksum: string | undefined, before: ReadonlyMap<string, Content>): Operation {
    const base = { checksum, before, previous: this.promised, beganAt: this.#step++ };
    const operation: Operation = {
      ...base,
      stamp: undefined,
      endedAt: Number.POSITIVE_INFINITY,
      isAcknowledged: false,
    };
    this.#operations.push(operation);
    return operation;
  }

  /** cancel removes an operation that was refused before anything was written. */
  cancel(operation: Operation): void {
    this.#operations.splice(this.#operations.indexOf(operation), 1);
  }

  /** endDirect records a write on one device. */
  endDirect(operation: Operation, stamp: Stamp): void {
    operation.stamp = stamp;
    this.#isPromised = false;
  }

  /** end records the outcome of an operation, and returns what is wrong with it. */
  end(operation: Operation, outcome: Outcome, now: number): readonly string[] {
    const { stamp, isAcknowledged, accepted, devices } = outcome;
    Object.assign(operation, { stamp, isAcknowledged, endedAt: this.#step++ });
    if (this.#isBlind(operation, outcome, now)) this.#isPromised = false;
    if (!isAcknowledged) return [];
    const last = this.#last;
    const isConcurrent = last !== undefined && last.endedAt > operation.beganAt;
    // Two deletions at the same time are the same tombstone.
    const isSame = last?.checksum === operation.checksum && last?.stamp?.timestamp === stamp.timestamp;
    if (isConcurrent && last.stamp?.version === stamp.version && devices >= 3 && !isSame)
      return [`two acknowledged writes have version ${stamp.version}`];
    // Of two operations at the same time, the one with the higher version is the last.
    if (!isConcurrent || (last.stamp?.version ?? 0) < stamp.version) this.#last = operation;
    if (accepted === devices && !isConcurrent) this.#isPromised = true;
    else if (accepted <= devices / 2) this.#isPromised = false;
    return [];
  }

  #isBlind({ previous, before }: Operation, { seen }: Outcome, now: number): boolean {
    if (!previous || (previous.checksum === undefined && isExpired(previous, now))) return false;
    return ![...seen].some((serial) => this.#follows(before.get(serial), previous));
  }

  /** replaced records that a device lost its content. The promise ends with the last device that has the operation. */
  replaced(contents: readonly Content[]): void {
    const last = this.#last;
    if (last && !contents.some((content) => this.#follows(content, last))) this.#isPromised = false;
  }

  /** endPromise ends the promise. */
  endPromise(): void {
    this.#isPromised = false;
  }

  /** problems returns what is wrong with the content that all devices have in the end. */
  problems(path: string, content: Content, now: number): readonly string[] {
    const { promised } = this;
    if (content && !this.#operations.some((operation) => isOperation(content, operation)))
      return [`${path} has content that was never written: ${describe(content)}`];
    if (!promised) return [];
    if (content ? this.#follows(content, promised) : this.#isPurged(promised, now)) return [];
    return [`${path} has lost ${JSON.stringify(promised.stamp)}, the last acknowledged write: ${describe(content)}`];
  }

  /** #follows reports whether content is that of an operation, or of one that may have followed it. */
  #follows(content: Content, operation: Operation): boolean {
    return content !== undefined && this.#successors(operation).some((each) => isOperation(content, each));
  }

  /** #isPurged reports whether the tombstone of an operation, or of one that may have followed it, can be purged. */
  #isPurged(operation: Operation, now: number): boolean {
    return this.#successors(operation).some((each) => each.checksum === undefined && isExpired(each, now));
  }

  /** #successors returns an operation, those that were acknowledged later, and those with an error. */
  #successors(operation: Operation): readonly Operation[] {
    return this.#operations.filter(
      (each) => each === operation || !each.isAcknowledged || each.beganAt > operation.beganAt,
    );
  }
}

function isExpired({ stamp }: Operation, now: number): boolean {
  return now - Date.parse(stamp?.timestamp ?? '') >= DAY_MS;
}

function isOperation(content: SecretSummary, { checksum, stamp }: Operation): boolean {
  if (content.checksum !== checksum || content.isDeleted !== (checksum === undefined)) return false;
  return stamp === undefined || (content.version === stamp.version && content.timestamp === stamp.timestamp);
}

function describe(content: Content): string {
  if (!content) return 'nothing';
  return `${content.isDeleted ? 'a tombstone' : 'a copy'} of version ${content.version}, ${content.timestamp}`;
}
