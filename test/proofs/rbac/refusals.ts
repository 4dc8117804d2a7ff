import { type ApiError, type Client, isForbidden } from '@bowline/runtime/client';

/** Methods that return another client instead of a promise. */
const MAKES_CLIENT: ReadonlySet<string | symbol> = new Set(['guarded', 'checked', 'withFieldManager', 'onLeaseLane']);

/** Refusals records the requests of an operator that the API server forbade. */
export class Refusals {
  readonly #seen: string[] = [];
  readonly #onRefused: () => void;

  /** `onRefused` is called for each. */
  constructor(onRefused: () => void) {
    this.#onRefused = onRefused;
  }

  /** The distinct forbidden requests: `patch greetings/status`. */
  get seen(): readonly string[] {
    return [...new Set(this.#seen)];
  }

  /** watch returns a client whose refusals are recorded. */
  watch(client: Client): Client {
    return new Proxy(client, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          const result: unknown = Reflect.apply(member, target, args);
          if (MAKES_CLIENT.has(name)) return this.watch(result as Client);
          // The caller handles its own result; this only observes the same promise.
          if (result instanceof Promise) result.catch((error: unknown) => this.#observe(error));
          return result;
        };
      },
    });
  }

  #observe(error: unknown): void {
    if (!isForbidden(error)) return;
    this.#seen.push(describe(error));
    this.#onRefused();
  }
}

function describe({ request: { verb, resource, subresource, path } }: ApiError): string {
  return `${verb} ${resource ? [resource.plural, subresource].filter(Boolean).join('/') : path}`;
}
