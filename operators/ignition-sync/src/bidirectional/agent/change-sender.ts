import { ConfigMap } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { type Client, isConflict } from '@bowline/runtime/client';
import { fieldManagerOf } from '@bowline/runtime/writing';
import { OPERATOR, objectNames } from '../../api/names.ts';

/** ChangeSenderOptions configures where changes are sent. */
export interface ChangeSenderOptions {
  readonly client: Pick<Client, 'get' | 'patch'>;
  readonly namespace: string;
  /** The name of the IgnitionSync. */
  readonly cr: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** POLL_MS is how often the ConfigMap is read while a part waits. */
export const POLL_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;
const FIELD_MANAGER = fieldManagerOf(OPERATOR, 'agent');

/**
 * ChangeSender writes changes to the gateway's key of the changes ConfigMap, one part at a time. It waits until no other gateway has a
 * key, because a ConfigMap has room for one part, and until the controller has removed its own.
 */
export class ChangeSender {
  readonly #options: ChangeSenderOptions;

  constructor(options: ChangeSenderOptions) {
    this.#options = options;
  }

  /** send resolves when the controller has processed every part. It rejects only when the signal is aborted. */
  async send(key: string, parts: readonly string[], signal: AbortSignal): Promise<void> {
    for (const part of parts) {
      await this.#until(signal, () => this.#place(key, part, signal));
      await this.#until(signal, async () => (await this.#read(signal)).data?.[key] === undefined);
    }
  }

  /** Returns whether the part is in the ConfigMap. */
  async #place(key: string, part: string, signal: AbortSignal): Promise<boolean> {
    const { client, namespace, cr } = this.#options;
    const { data = {}, metadata } = await this.#read(signal);
    if (data[key] === part) return true;
    // What an earlier process sent under our own key is replaced: the new parts contain all changes.
    if (Object.keys(data).some((each) => each !== key)) return false;
    const body = { metadata: { resourceVersion: metadata?.resourceVersion }, data: { [key]: part } };
    await client.patch(
      ConfigMap,
      { namespace, name: objectNames(cr).changes },
      { type: 'merge', body },
      { fieldManager: FIELD_MANAGER, timeoutMs: REQUEST_TIMEOUT_MS, signal },
    );
    return true;
  }

  async #read(signal: AbortSignal): Promise<ConfigMap> {
    const { client, namespace, cr } = this.#options;
    const key = { namespace, name: objectNames(cr).changes };
    return await client.get(ConfigMap, key, { timeoutMs: REQUEST_TIMEOUT_MS, signal });
  }

  async #until(signal: AbortSignal, attempt: () => Promise<boolean>): Promise<void> {
    const { clock, log } = this.#options;
    let isLogged = false;
    for (;;) {
      signal.throwIfAborted();
      try {
        if (await attempt()) return;
      } catch (error) {
        signal.throwIfAborted();
        if (!isConflict(error) && !isLogged)
          log.warn('changes of the gateway cannot be sent, and are tried again', { error });
        isLogged = true;
      }
      await clock.sleep(POLL_MS, signal);
    }
  }
}
