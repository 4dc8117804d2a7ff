import type { Failure } from './failure.ts';
import { isOlder } from './resource-versions.ts';

/** The number of consecutive failures of one kind before another way is tried. */
export const MAX_CONSECUTIVE_FAILURES = 3;
/** How long a watch may fail to resume before the state is fetched again. */
const RESUME_DEADLINE_MS = 120_000;

/** ResumePoint tracks the position of a reflector and decides how it continues after a failure. It does no I/O. */
export class ResumePoint {
  #version: string | undefined;
  #unavailable = false;
  #needsSnapshot = true;
  #unconfirmed = false;
  #failedProbes = 0;
  #failedStreamedLists = 0;
  #failedDecodes = 0;
  #failingSince: number | undefined;

  /** version is the last resourceVersion seen: the version a watch resumes from and the minimum for later reads. */
  get version(): string | undefined {
    return this.#version;
  }

  /** readable is the version to request, or undefined if only the newest state is acceptable. */
  get readable(): string | undefined {
    return this.#unavailable ? undefined : this.#version;
  }

  /**
   * listVersion is the version a list requests: any cached state the first time, then never older than the last version
   * seen.
   */
  get listVersion(): string {
    return this.#unavailable ? '' : (this.#version ?? '0');
  }

  /** needsSnapshot returns whether the whole state has to be fetched before changes can be followed. */
  get needsSnapshot(): boolean {
    return this.#needsSnapshot;
  }

  /**
   * unconfirmed returns whether it is unknown, since the last watch, that the server's history still contains
   * `version`.
   */
  get unconfirmed(): boolean {
    return this.#unconfirmed;
  }

  /** probesFail returns whether the server's version cannot be read at the moment. */
  get probesFail(): boolean {
    return this.#failedProbes >= MAX_CONSECUTIVE_FAILURES - 1;
  }

  /** streamedListsFail returns whether another way to get the whole state should be tried. */
  get streamedListsFail(): boolean {
    return this.#failedStreamedLists >= MAX_CONSECUTIVE_FAILURES;
  }

  /** isBehind returns whether a version is older than the last version seen: the server's history went back. */
  isBehind(version: string): boolean {
    return isOlder(version, this.#version);
  }

  /** ended records the end of a watch: until the next watch is confirmed, it is unknown which history it resumes. */
  ended(): void {
    this.#unconfirmed = true;
  }

  /** confirmed records that the server's history contains `version`. */
  confirmed(): void {
    this.#unconfirmed = false;
    this.#failedProbes = 0;
  }

  /** probeFailed counts the failure and returns whether to continue without the probe rather than block. */
  probeFailed(failure: Failure): boolean {
    // Lists may be forbidden or overloaded while watches work.
    if (failure.kind === 'forbidden') this.#failedProbes = MAX_CONSECUTIVE_FAILURES;
    else if (failure.kind === 'not-served' || ++this.#failedProbes < MAX_CONSECUTIVE_FAILURES) return false;
    return true;
  }

  /** advanced moves forward with the stream. */
  advanced(version: string): void {
    this.#version = version;
    this.#unconfirmed = false;
    this.#recovered();
  }

  /** replaced moves to a complete state; `newest` if it was requested as the newest one. */
  replaced(version: string, newest: boolean): void {
    this.#version = version;
    this.#unavailable = false;
    this.#needsSnapshot = false;
    this.#failedStreamedLists = 0;
    if (newest) this.#unconfirmed = false;
    this.#recovered();
  }

  /**
   * forget resets everything. The next state must be the newest one, because a lagging replica may still return the old
   * one.
   */
  forget(): void {
    this.#version = undefined;
    this.#unavailable = true;
    this.#needsSnapshot = true;
  }

  /** failed decides from a failure how the next attempt starts. */
  failed(failure: Failure, now: number): void {
    if (this.#version !== undefined) this.#unconfirmed = true;
    switch (failure.kind) {
      case 'expired':
        // First retry from the last version, so that no other replica can return an older state; if that fails, from
        // the newest.
        if (this.#needsSnapshot) this.#unavailable = true;
        this.#needsSnapshot = true;
        return;
      case 'too-large':
      case 'rewound':
        this.#unavailable = true;
        this.#needsSnapshot = true;
        return;
      case 'refused':
      case 'not-served':
        this.#needsSnapshot = true;
        return;
      case 'throttled':
      case 'unauthorized':
      case 'transport':
      case 'silent':
        this.#resumeFailed(now);
        return;
      case 'server-error':
        this.#streamedListFailed();
        this.#resumeFailed(now);
        return;
      case 'decode':
        this.#streamedListFailed();
        if (++this.#failedDecodes >= MAX_CONSECUTIVE_FAILURES) this.#needsSnapshot = true;
        return;
      case 'short':
      case 'cut':
        this.#streamedListFailed();
        return;
      case 'forbidden':
      case 'no-end':
        return;
    }
  }

  #streamedListFailed(): void {
    if (this.#needsSnapshot) this.#failedStreamedLists++;
  }

  #resumeFailed(now: number): void {
    this.#failingSince ??= now;
    if (now - this.#failingSince > RESUME_DEADLINE_MS) this.#needsSnapshot = true;
  }

  #recovered(): void {
    this.#failedDecodes = 0;
    this.#failingSince = undefined;
  }
}
