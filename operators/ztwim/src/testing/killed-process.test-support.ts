import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime/client';
import { wrapClient } from '../../../../test/support/wrap-client.ts';

/** A new process is started only when the webhooks of the last one are ready. */
const OF_WEBHOOKS = /^(?:Secret|Lease|.*WebhookConfiguration|.*Review)$/;

/** versionIn returns the version of the object that a patch is for; empty if the patch does not name it. */
function versionIn([, patch]: readonly unknown[]): string {
  const { body } = (patch ?? {}) as { readonly body?: KubernetesObject | undefined };
  return body?.metadata?.resourceVersion ?? '';
}

/** KilledProcess ends all requests of an operator after a number of successful writes, as if its process was killed. */
export class KilledProcess {
  #writesLeft = Number.POSITIVE_INFINITY;
  #released: Promise<void> = Promise.resolve();

  /** isKilled reports whether the process was killed. */
  get isKilled(): boolean {
    return this.#writesLeft <= 0;
  }

  /** limit lets the next process, or the present one if it lives, send a number of writes. Defaults to no limit. */
  limit(writes: number = Number.POSITIVE_INFINITY): void {
    this.#writesLeft = writes;
  }

  /** hold lets writes wait until the result is disposed of, for example until the webhooks of a new process are ready. */
  hold(): Disposable {
    let release = (): void => undefined;
    this.#released = new Promise((resolve) => {
      release = resolve;
    });
    return { [Symbol.dispose]: () => release() };
  }

  /** through returns a client whose process can be killed. */
  through(client: Client): Client {
    const checked = client.checked(({ resource }) => {
      if (this.isKilled && resource !== undefined && !OF_WEBHOOKS.test(resource.kind)) {
        throw new Error('the process was killed');
      }
    });
    return wrapClient(checked, (wrapped) => ({
      create: (kind, ...others) => this.#write(kind, () => wrapped.create(kind, ...others)),
      update: (kind, ...others) => this.#write(kind, () => wrapped.update(kind, ...others)),
      patch: (kind, ...others) => this.#write(kind, () => wrapped.patch(kind, ...others), versionIn(others)),
      delete: (kind, ...others) => this.#write(kind, () => wrapped.delete(kind, ...others)),
    }));
  }

  async #write<T>({ kind }: Resource, send: () => Promise<T>, version = ''): Promise<T> {
    if (kind === 'Event' || OF_WEBHOOKS.test(kind)) return await send();
    await this.#released;
    const response = await send();
    // A request that changes nothing is no step.
    if (version !== (response as KubernetesObject).metadata?.resourceVersion) this.#writesLeft -= 1;
    return response;
  }
}
