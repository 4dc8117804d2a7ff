import type { Failure } from './failure.ts';
import { isOlder } from './resource-versions.ts';

/** How often the same kind of failure may repeat before another way is tried. */
export const PATIENCE = 3;
/** How long a watch may fail to resume before the state is fetched anew. */
const RESUME_DEADLINE_MS = 120_000;

/** ResumePoint is where a reflector stands and how it goes on after a failure. It does no I/O: it is the decisions alone. */
export class ResumePoint {
  #version: string | undefined;
  #unavailable = false;
  #needsSnapshot = true;
  #unconfirmed = false;
  #failedProbes = 0;
  #failedStreamedLists = 0;
  #failedDecodes = 0;
  #failingSince: number | undefined;

  /** version is the last resourceVersion seen: where a watch resumes, and what no later read may be older than. */
  get version(): string | undefined {
    return this.#version;
  }

  /** readable is the version to ask for, or undefined when only the newest state will do. */
  get readable(): string | undefined {
    return this.#unavailable ? undefined : this.#version;
  }

  /** listVersion is what a list asks for: whatever is at hand the first time, then never older than what was seen. */
  get listVersion(): string {
    return this.#unavailable ? '' : (this.#version ?? '0');
  }

  /** needsSnapshot says that the whole state has to be fetched before changes can be followed. */
  get needsSnapshot(): boolean {
    return this.#needsSnapshot;
  }

  /** unconfirmed says that nothing has shown since the last watch that the server's history still contains `version`. */
  get unconfirmed(): boolean {
    return this.#unconfirmed;
  }

  /** probesFail says that the server's history cannot be asked for at the moment. */
  get probesFail(): boolean {
    return this.#failedProbes >= PATIENCE - 1;
  }

  /** streamedListsFail says that another way to the whole state should be tried. */
  get streamedListsFail(): boolean {
    return this.#failedStreamedLists >= PATIENCE;
  }

  /** isBehind says that a version is older than what was seen: the server's history went back. */
  isBehind(version: string): boolean {
    return isOlder(version, this.#version);
  }

  /** ended says that a watch came to its end: until the next one is confirmed, nobody knows what it resumes in. */
  ended(): void {
    this.#unconfirmed = true;
  }

  /** confirmed says that the server's history contains `version`. */
  confirmed(): void {
    this.#unconfirmed = false;
    this.#failedProbes = 0;
  }

  /** probeFailed counts; true when going on without an answer is better than standing still. */
  probeFailed(failure: Failure): boolean {
    // Lists may be forbidden or overloaded while watches work.
    if (failure.kind === 'forbidden') this.#failedProbes = PATIENCE;
    else if (failure.kind === 'not-served' || ++this.#failedProbes < PATIENCE) return false;
    return true;
  }

  /** advanced moves on with the stream. */
  advanced(version: string): void {
    this.#version = version;
    this.#unconfirmed = false;
    this.#recovered();
  }

  /** replaced moves to a complete state; `newest` when it is known to have been the newest one. */
  replaced(version: string, newest: boolean): void {
    this.#version = version;
    this.#unavailable = false;
    this.#needsSnapshot = false;
    this.#failedStreamedLists = 0;
    if (newest) this.#unconfirmed = false;
    this.#recovered();
  }

  /** forget starts from nothing. What comes next must be the newest state: a lagging replica may still show the old one. */
  forget(): void {
    this.#version = undefined;
    this.#unavailable = true;
    this.#needsSnapshot = true;
  }

  /** failed decides from a failure how the next attempt begins. */
  failed(failure: Failure, now: number): void {
    if (this.#version !== undefined) this.#unconfirmed = true;
    switch (failure.kind) {
      case 'expired':
        // First from the last version, so that no other replica can show an older state; from the newest if that fails.
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
        if (++this.#failedDecodes >= PATIENCE) this.#needsSnapshot = true;
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
