import { ConfigMap } from '@bowline/kubernetes';
import { untilAborted } from '@bowline/machinery';
import { Cache } from '@bowline/runtime/cache';
import type { Client } from '@bowline/runtime/client';
import { KeyStream } from '@bowline/runtime/controller';
import { GLOBAL_PAUSE } from '../api/names.ts';

/** GlobalPause observes the ConfigMap that pauses every IgnitionSync. It is in the manager's namespace, which no controller watches. */
export class GlobalPause {
  readonly #namespace: string;
  readonly #known: Promise<void>;
  #becomeKnown: () => void = () => undefined;
  #isKnown = false;
  #isPaused = false;
  /** Passes any key when the state changes: all IgnitionSyncs have to be reconciled. */
  readonly changes = new KeyStream();

  constructor(namespace: string) {
    this.#namespace = namespace;
    this.#known = new Promise((resolve) => {
      this.#becomeKnown = resolve;
    });
  }

  /** isPaused reports whether everything is paused. It waits until the ConfigMap was read once. */
  async isPaused(signal: AbortSignal): Promise<boolean> {
    if (!this.#isKnown) await Promise.race([this.#known, untilAborted(signal)]);
    signal.throwIfAborted();
    return this.#isPaused;
  }

  /** run watches the ConfigMap until the signal is aborted. */
  async run(signal: AbortSignal, client: Client): Promise<void> {
    const cache = new Cache({ client });
    const maps = cache.informer(ConfigMap, {
      namespaces: [this.#namespace],
      fieldSelector: `metadata.name=${GLOBAL_PAUSE.name}`,
    });
    const update = (): void => {
      const stored = maps.get({ namespace: this.#namespace, name: GLOBAL_PAUSE.name });
      const isPaused = stored?.data?.[GLOBAL_PAUSE.key] === 'true';
      if (isPaused === this.#isPaused) return;
      this.#isPaused = isPaused;
      this.changes.add(GLOBAL_PAUSE.name);
    };
    using _changes = maps.subscribe(update);
    const running = cache.run(signal);
    await Promise.race([maps.synced(signal).catch(() => undefined), running]);
    update();
    if (!signal.aborted) {
      this.#isKnown = true;
      this.#becomeKnown();
    }
    await running;
  }
}
