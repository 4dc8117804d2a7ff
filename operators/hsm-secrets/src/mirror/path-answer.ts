import { parseTime } from '@bowline/machinery';
import type { SecretSummary } from '../token/token-service.ts';

/** Copy is a secret on a device, without its values. */
export interface Copy {
  readonly kind: 'copy';
  /** 0 for a secret that another system wrote without a version. */
  readonly version: number;
  readonly timestamp: string | undefined;
  readonly checksum: string;
}

/** Tombstone is the record of a deletion on a device. */
export interface Tombstone {
  readonly kind: 'tombstone';
  readonly version: number;
  readonly timestamp: string | undefined;
}

/**
 * PathAnswer is what a device knows about a path. `absent` is an answer: the device has neither a secret nor a
 * tombstone, for example because it is new. `error` is none: the device may have anything.
 */
export type PathAnswer = Copy | Tombstone | { readonly kind: 'absent' } | { readonly kind: 'error' };

/** Vote is the answer of a device that has a copy or a tombstone. */
export interface Vote {
  readonly serial: string;
  readonly answer: Copy | Tombstone;
}

/** answerOf returns the answer that corresponds to an entry of a device's list. */
export function answerOf({ version, timestamp, isDeleted, checksum = '' }: SecretSummary): Copy | Tombstone {
  return isDeleted ? { kind: 'tombstone', version, timestamp } : { kind: 'copy', version, timestamp, checksum };
}

/** isVote reports whether a device has a copy or a tombstone. */
export function isVote(answer: PathAnswer): answer is Copy | Tombstone {
  return answer.kind === 'copy' || answer.kind === 'tombstone';
}

/** timeOf returns when an answer was written, in milliseconds; -Infinity if its time is missing or not valid. */
export function timeOf({ timestamp }: Copy | Tombstone): number {
  if (timestamp === undefined) return Number.NEGATIVE_INFINITY;
  try {
    return parseTime(timestamp);
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
}

/** hasSameContent compares two answers without their times. */
export function hasSameContent(a: Copy | Tombstone, b: Copy | Tombstone): boolean {
  return a.version === b.version && isSameValue(a, b);
}

/** isSameValue reports whether two answers are deletions, or secrets with the same values. */
export function isSameValue(a: Copy | Tombstone, b: Copy | Tombstone): boolean {
  return a.kind === 'copy' ? b.kind === 'copy' && a.checksum === b.checksum : b.kind === 'tombstone';
}

/**
 * isSameAnswer compares two answers with their times. Two writes with the same version and values but different times
 * may differ in their metadata.
 */
export function isSameAnswer(a: Copy | Tombstone, b: Copy | Tombstone): boolean {
  return hasSameContent(a, b) && timeOf(a) === timeOf(b);
}
