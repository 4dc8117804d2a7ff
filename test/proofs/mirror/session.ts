import { integerBelow, type Random } from '@bowline/machinery';
import type { TestDevice } from '../../../operators/hsm-secrets/src/mirror/test-device.test-support.ts';
import { TokenError } from '../../../operators/hsm-secrets/src/token/token-error.ts';
import type { TokenService } from '../../../operators/hsm-secrets/src/token/token-service.ts';

/** SessionOptions configures what happens to the calls of a manager. */
export interface SessionOptions {
  readonly random: Random;
  /** The manager is killed at this call. Defaults to never. */
  readonly killAt?: number | undefined;
  /** The share of calls that take effect although the caller gets an error. Defaults to 0.02. */
  readonly lostReplies?: number | undefined;
  /** Calls wait for each other in random order. Defaults to false: they run in the order in which they are made. */
  readonly isInterleaved?: boolean | undefined;
}

/** Session is one manager, or two at the same time: it makes the calls of devices and counts them. */
export class Session {
  readonly #options: SessionOptions;
  readonly #waiting: (() => void)[] = [];
  #calls = 0;
  readonly lists = new Map<string, number>();
  /** The devices whose lists were returned. */
  readonly answered = new Set<string>();
  reads = 0;
  writes = 0;
  lostReplies = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** isKilled reports whether the manager was killed before it was done. */
  get isKilled(): boolean {
    const { killAt } = this.#options;
    return killAt !== undefined && this.#calls >= killAt;
  }

  /** run runs the work, and lets one waiting call after the other continue, in random order, with `before` each time. */
  async run<T>(work: Promise<T>, before: () => void): Promise<T> {
    const state = { isDone: false };
    const settle = (): void => {
      state.isDone = true;
    };
    work.then(settle, settle);
    while (!state.isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      const [next] = this.#waiting.splice(integerBelow(this.#options.random, this.#waiting.length), 1);
      before();
      next?.();
    }
    return work;
  }

  /** token returns a device as the manager reaches it, and adds it to `seen` when the manager has read a version. */
  token(device: TestDevice, seen?: Set<string>): TokenService {
    const { service, serial } = device;
    const call = <T>(work: () => Promise<T>): Promise<T> => this.#call(device, work);
    const write = <T>(work: () => Promise<T>): Promise<T> =>
      call(() => {
        this.writes++;
        return work();
      });
    return {
      ...unused,
      read: (path) =>
        call(() => {
          this.reads++;
          return service.read(path);
        }),
      metadata: (path) =>
        call(() => service.metadata(path)).then(
          (metadata) => {
            seen?.add(serial);
            return metadata;
          },
          (error: unknown) => {
            if (error instanceof TokenError && error.problem === 'NotFound') seen?.add(serial);
            throw error;
          },
        ),
      list: async (prefix) => {
        if (prefix === '') this.lists.set(serial, (this.lists.get(serial) ?? 0) + 1);
        const list = await call(() => {
          if (device.hasReadErrors) throw new TokenError('Unavailable', 'the session has ended');
          return service.list(prefix);
        });
        if (prefix === '') this.answered.add(serial);
        return list;
      },
      write: (path, data, metadata, options) => write(() => service.write(path, data, metadata, options)),
      remove: (path, key, options) => write(() => service.remove(path, key, options)),
      purge: (path, version) => write(() => service.purge(path, version)),
    };
  }

  async #call<T>(device: TestDevice, work: () => Promise<T>): Promise<T> {
    const { random, killAt, isInterleaved, lostReplies = 0.02 } = this.#options;
    if (isInterleaved) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#calls++;
    if (killAt !== undefined && this.#calls >= killAt) {
      // The call at which the manager is killed may still reach the device.
      if (this.#calls === killAt && device.isUp && random.next() < 0.5) await work().catch(() => undefined);
      throw new TokenError('Unavailable', 'the manager was killed');
    }
    if (!device.isUp) throw new TokenError('Unavailable', 'the device is away');
    const result = await work();
    if (random.next() >= lostReplies) return result;
    this.lostReplies++;
    throw new TokenError('Timeout', 'the reply was lost');
  }
}

function refuse(): Promise<never> {
  return Promise.reject(new TypeError('mirroring does not use this method'));
}

const unused = { status: refuse, changePin: refuse, retryPin: refuse, provePin: refuse };
