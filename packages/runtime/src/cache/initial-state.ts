import type { Snapshot } from './reflector-target.ts';
import { isOlder } from './resource-versions.ts';
import type { Observation } from './watch-event.ts';

/** InitialState collects the objects with which a watch begins, until the bookmark that ends them. */
export class InitialState {
  readonly snapshot: Snapshot;
  /** The highest version of what was not merely listed: listed objects come in no order. */
  #reached: string | undefined;

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot;
  }

  /** take collects; once the state is complete it answers its version and what came behind it. */
  take(observations: readonly Observation[]): { version: string; rest: readonly Observation[] } | undefined {
    for (const [index, { kind, version, object, added, endsInitialState }] of observations.entries()) {
      if (kind === 'upsert') this.snapshot.add(object);
      else if (kind === 'delete') this.snapshot.remove(object);
      if (!added && !isOlder(version, this.#reached)) this.#reached = version;
      // A change may have come before the bookmark and be newer than it; a watch from the bookmark would bring it twice.
      if (endsInitialState) return { version: this.#reached ?? version, rest: observations.slice(index + 1) };
    }
    return undefined;
  }
}
