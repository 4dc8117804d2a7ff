/** State is the known state of an object: its content and its version. */
export interface State {
  readonly content: string;
  readonly version: number;
}

/** Intent is a write that was sent: the desired content, or undefined for a deletion. */
export interface Intent {
  readonly content: string | undefined;
}

/** Found is the content of a server after a restart. */
export interface Found {
  readonly revision: number;
  readonly objects: ReadonlyMap<string, State>;
}

/**
 * Ledger is kept by the writers, outside the server: the acknowledged writes, and those in flight when the server died. The
 * latter may or may not have happened; the former must exist.
 */
export class Ledger {
  readonly #known = new Map<string, State>();
  readonly #pending = new Map<string, Intent>();
  #newest = 0;
  #survivors = 0;
  #lost = 0;

  /** The newest version that was returned to any writer. */
  get newest(): number {
    return this.#newest;
  }

  /** The number of unacknowledged writes that were stored, and of those that were not. */
  get unacknowledged(): { readonly kept: number; readonly dropped: number } {
    return { kept: this.#survivors, dropped: this.#lost };
  }

  stateOf(key: string): State | undefined {
    return this.#known.get(key);
  }

  /** sent records a write before it is sent. Each object has one writer, which waits for the response. */
  sent(key: string, intent: Intent): void {
    this.#pending.set(key, intent);
  }

  /** acknowledged records the response to the last write, and returns what is wrong with it. */
  acknowledged(key: string, version: number): string | undefined {
    const intent = this.#pending.get(key);
    this.#pending.delete(key);
    const before = this.#known.get(key);
    if (intent?.content === undefined) this.#known.delete(key);
    else this.#known.set(key, { content: intent.content, version });
    // Other objects are written at the same time, so only the versions of one object are ordered.
    const isNewer = intent?.content === undefined || version > (before?.version ?? 0);
    this.#newest = Math.max(this.#newest, version);
    return isNewer ? undefined : `${key} went from version ${before?.version} to ${version}`;
  }

  /** compare checks the content of a server after a restart, and adopts unacknowledged writes that were stored. */
  compare({ revision, objects }: Found): string[] {
    const violations: string[] = [];
    if (revision < this.#newest) violations.push(`the revision counter went back from ${this.#newest} to ${revision}`);
    for (const key of new Set([...this.#known.keys(), ...this.#pending.keys(), ...objects.keys()])) {
      const known = this.#known.get(key);
      const found = objects.get(key);
      const intent = this.#pending.get(key);
      if (isSame(known, found)) {
        if (intent) this.#lost++;
      } else if (intent && intent.content === found?.content && (found?.version ?? 0) <= revision) {
        this.#survivors++;
      } else {
        violations.push(`${key} was acknowledged as ${described(known)} and is ${described(found)}`);
      }
      if (found) this.#known.set(key, found);
      else this.#known.delete(key);
    }
    this.#pending.clear();
    this.#newest = Math.max(this.#newest, revision);
    return violations;
  }
}

function isSame(known: State | undefined, found: State | undefined): boolean {
  return known?.version === found?.version && known?.content === found?.content;
}

function described(state: State | undefined): string {
  if (!state) return 'absent';
  return `version ${state.version} with ${state.content.length} characters, ${JSON.stringify(state.content.slice(0, 16))}`;
}
