/** State is what is known of an object: its content, and the version that it has with it. */
export interface State {
  readonly content: string;
  readonly version: number;
}

/** Intent is a write that was sent: the content that the object is to have, or undefined for its end. */
export interface Intent {
  readonly content: string | undefined;
}

/** Found is what a server holds after it came back. */
export interface Found {
  readonly revision: number;
  readonly objects: ReadonlyMap<string, State>;
}

/**
 * Ledger is kept by those who write, outside of the server: what was acknowledged, and what was on its way when the server
 * died. Of the latter nobody knows whether it happened; the former must be there.
 */
export class Ledger {
  readonly #known = new Map<string, State>();
  readonly #pending = new Map<string, Intent>();
  #newest = 0;
  #survivors = 0;
  #lost = 0;

  /** The newest version that anybody was told of. */
  get newest(): number {
    return this.#newest;
  }

  /** How many unanswered writes had happened after all, and how many had not. */
  get unanswered(): { readonly kept: number; readonly dropped: number } {
    return { kept: this.#survivors, dropped: this.#lost };
  }

  stateOf(key: string): State | undefined {
    return this.#known.get(key);
  }

  /** sent notes a write before it is sent. One object has one writer, who waits for the answer. */
  sent(key: string, intent: Intent): void {
    this.#pending.set(key, intent);
  }

  /** acknowledged notes the answer to the write that was sent, and says what is wrong with it. */
  acknowledged(key: string, version: number): string | undefined {
    const intent = this.#pending.get(key);
    this.#pending.delete(key);
    const before = this.#known.get(key);
    if (intent?.content === undefined) this.#known.delete(key);
    else this.#known.set(key, { content: intent.content, version });
    // Other objects are written at the same time, so only the object's own versions come in order.
    const isNewer = intent?.content === undefined || version > (before?.version ?? 0);
    this.#newest = Math.max(this.#newest, version);
    return isNewer ? undefined : `${key} went from version ${before?.version} to ${version}`;
  }

  /** compare judges what a server holds after it came back, and takes over what had happened unanswered. */
  compare({ revision, objects }: Found): string[] {
    const violations: string[] = [];
    if (revision < this.#newest)
      violations.push(`the counter of revisions went back from ${this.#newest} to ${revision}`);
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
