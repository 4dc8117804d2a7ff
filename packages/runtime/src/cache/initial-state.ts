import type { Snapshot } from './reflector-target.ts';
import { isOlder } from './resource-versions.ts';
import type { Observation } from './watch-event.ts';

/** InitialState collects the objects at the start of a watch until the bookmark that ends them. */
export class InitialState {
  readonly snapshot: Snapshot;
  /** The highest version of the events that are not initial objects, which arrive in no order. */
  #reached: string | undefined;

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot;
  }

  /** take collects observations. Once the state is complete it returns its version and the observations after it. */
  take(observations: readonly Observation[]): { version: string; rest: readonly Observation[] } | undefined {
    for (const [index, { kind, version, object, added, endsInitialState }] of observations.entries()) {
      if (kind === 'upsert') this.snapshot.add(object);
      else if (kind === 'delete') this.snapshot.remove(object);
      if (!added && !isOlder(version, this.#reached)) this.#reached = version;
      // A change may arrive before the bookmark and be newer than it; a watch from the bookmark's version would deliver
      // the change twice.
      if (endsInitialState) return { version: this.#reached ?? version, rest: observations.slice(index + 1) };
    }
    return undefined;
  }
}
