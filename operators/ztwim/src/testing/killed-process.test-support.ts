import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime/client';

/** A new process is started only when the webhooks of the last one are ready. */
const OF_WEBHOOKS = /^(?:Secret|Lease|.*WebhookConfiguration|.*Review)$/;

const WRITES = ['create', 'update', 'patch', 'delete'] as const;

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
    return this.#counting(checked);
  }

  #counting(client: Client): Client {
    const counts = (kind: string) => kind !== 'Event' && !OF_WEBHOOKS.test(kind);
    const count = () => {
      this.#writesLeft -= 1;
    };
    const released = () => this.#released;
    const counting = (client: Client): Client => this.#counting(client);
    return new Proxy(client, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        // A method accesses its private state through the client itself, not through this proxy.
        if (name === 'guarded' || name === 'checked' || name === 'withFieldManager') {
          return (option: never) => counting(member.call(target, option));
        }
        if (!WRITES.some((each) => each === name)) return member.bind(target);
        return async (resource: Resource, ...others: readonly unknown[]) => {
          if (!counts(resource.kind)) return await member.call(target, resource, ...others);
          await released();
          const response = (await member.call(target, resource, ...others)) as KubernetesObject;
          // A request that changes nothing is no step.
          if (versionIn(others) !== response.metadata?.resourceVersion) count();
          return response;
        };
      },
    });
  }
}
