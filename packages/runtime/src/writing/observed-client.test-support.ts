import type { Patch } from '../client/client.ts';
import type { WriteClient } from './write-client.ts';

/** ObservedRequest is one call that was forwarded. */
export interface ObservedRequest {
  readonly verb: 'find' | 'create' | 'patch' | 'delete';
  readonly what: string;
  readonly patch?: Patch;
}

/**
 * ObservedClient forwards calls, records them, and lets a test act just before a call is sent, as another client on the
 * cluster might.
 */
export class ObservedClient implements WriteClient {
  readonly requests: ObservedRequest[] = [];
  readonly find: WriteClient['find'];
  readonly create: WriteClient['create'];
  readonly patch: WriteClient['patch'];
  readonly delete: WriteClient['delete'];
  #before: { readonly verb: string; readonly act: () => Promise<unknown> } | undefined;

  constructor(client: WriteClient) {
    this.find = async (resource, key, options) => {
      await this.#note({ verb: 'find', what: `${resource.kind} ${key.name}` });
      return client.find(resource, key, options);
    };
    this.create = async (resource, object, options) => {
      await this.#note({ verb: 'create', what: `${resource.kind} ${object.metadata?.name ?? ''}` });
      return client.create(resource, object, options);
    };
    this.patch = async (resource, key, patch, options) => {
      await this.#note({ verb: 'patch', what: `${resource.kind} ${key.name}`, patch });
      return client.patch(resource, key, patch, options);
    };
    this.delete = async (resource, key, options) => {
      await this.#note({ verb: 'delete', what: `${resource.kind} ${key.name}` });
      return client.delete(resource, key, options);
    };
  }

  /** before calls `act` once, just before the next call of this verb. */
  before(verb: ObservedRequest['verb'], act: () => Promise<unknown>): void {
    this.#before = { verb, act };
  }

  /** verbs returns the verbs of the calls so far, and clears them. */
  verbs(): string {
    const verbs = this.requests.map(({ verb, patch }) => (patch ? patch.type : verb)).join(' ');
    this.requests.length = 0;
    return verbs;
  }

  async #note(request: ObservedRequest): Promise<void> {
    const { act, verb } = this.#before ?? {};
    if (act && verb === request.verb) {
      this.#before = undefined;
      await act();
    }
    this.requests.push(request);
  }
}
