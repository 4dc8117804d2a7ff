import { type Channel, Unprocessed } from './channel.ts';
import type { RequestScope } from './request-scope.ts';

/** ChannelPoolOptions configures the connections of one lane. */
export interface ChannelPoolOptions {
  /** Opens another connection; rejects in bounded time. */
  readonly open: (onUnusable: (channel: Channel) => void) => Promise<Channel>;
  /** The number of concurrent requests to assume per connection until the first one has been opened. */
  readonly expectedCapacity: number;
}

/** ChannelLease grants the right to send one request on a channel. Release it when that request has ended. */
export interface ChannelLease {
  readonly channel: Channel;
  release(): void;
}

interface Waiter {
  grant(lease: ChannelLease): void;
  fail(error: unknown): void;
}

/**
 * ChannelPool holds the connections of one lane. It opens another connection only when the existing ones are full,
 * never exceeds the server's stream limit and closes idle connections that are no longer needed.
 */
export class ChannelPool {
  readonly #open: ChannelPoolOptions['open'];
  #expectedCapacity: number;
  /** The number of active requests per connection, including connections that accept no new requests. */
  readonly #active = new Map<Channel, number>();
  readonly #waiting = new Set<Waiter>();
  readonly #openings = new Set<Promise<void>>();
  #closed: Error | undefined;

  constructor(options: ChannelPoolOptions) {
    this.#open = options.open;
    this.#expectedCapacity = options.expectedCapacity;
  }

  /**
   * acquire returns a connection with free capacity. If there is none, it waits, at most until the request is
   * cancelled.
   */
  acquire(scope: RequestScope): ChannelLease | Promise<ChannelLease> {
    if (this.#closed) return Promise.reject(this.#closed);
    const channel = this.#withCapacity();
    if (channel) return this.#lease(channel);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(waiter);
        unsubscribe();
      };
      const waiter: Waiter = {
        grant: (lease) => {
          leave();
          resolve(lease);
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      const unsubscribe = scope.onCancel((reason) => waiter.fail(reason));
      this.#waiting.add(waiter);
      this.#openForWaiting();
    });
  }

  /** retireIf retires the connections that match `test`. */
  retireIf(test: (channel: Channel) => boolean): void {
    for (const channel of [...this.#active.keys()]) {
      if (test(channel)) channel.retire();
    }
  }

  /** close destroys every connection and resolves when all of them are closed. */
  async close(reason: Error): Promise<void> {
    this.#closed = reason;
    for (const waiter of [...this.#waiting]) waiter.fail(reason);
    const channels = [...this.#active.keys()];
    for (const channel of channels) channel.destroy(reason);
    await Promise.all([...channels.map((channel) => channel.closed), ...this.#openings]);
  }

  #withCapacity(): Channel | undefined {
    for (const [channel, active] of this.#active) {
      if (channel.usable && active < channel.capacity) return channel;
    }
    return undefined;
  }

  #lease(channel: Channel): ChannelLease {
    this.#active.set(channel, (this.#active.get(channel) ?? 0) + 1);
    let released = false;
    return {
      channel,
      release: () => {
        if (released) return;
        released = true;
        this.#release(channel);
      },
    };
  }

  #release(channel: Channel): void {
    const active = this.#active.get(channel);
    if (active === undefined) return;
    this.#active.set(channel, active - 1);
    this.#serve();
    if (!channel.usable && this.#active.get(channel) === 0) this.#active.delete(channel);
    this.#trim(channel.keepIdle);
  }

  /** #trim retires idle connections while the others have enough free capacity. */
  #trim(keepIdle: number): void {
    if (this.#active.size <= keepIdle) return;
    const available = [...this.#active].filter(([channel, active]) => channel.usable && active < channel.capacity);
    const idle = available.filter(([, active]) => active === 0);
    for (const [channel] of idle.slice(0, Math.max(0, available.length - keepIdle))) channel.retire();
  }

  #serve(): void {
    if (this.#waiting.size === 0) return;
    for (const waiter of [...this.#waiting]) {
      const channel = this.#withCapacity();
      if (!channel) break;
      waiter.grant(this.#lease(channel));
    }
    this.#openForWaiting();
  }

  #openForWaiting(): void {
    while (!this.#closed && this.#waiting.size > this.#openings.size * this.#expectedCapacity) {
      const opening = this.#openOne().finally(() => {
        this.#openings.delete(opening);
        this.#serve();
      });
      this.#openings.add(opening);
    }
  }

  /** #openOne never rejects. A failure is reported to the requests that were waiting for the connection. */
  async #openOne(): Promise<void> {
    try {
      const opened = await this.#open((channel) => {
        if (this.#active.get(channel) === 0) this.#active.delete(channel);
      });
      if (this.#closed) {
        opened.destroy(this.#closed);
        await opened.closed;
        return;
      }
      if (!opened.usable) throw new Unprocessed('the connection ended as soon as it was open');
      this.#expectedCapacity = Math.max(1, opened.capacity);
      this.#active.set(opened, 0);
    } catch (error) {
      for (const waiter of [...this.#waiting].slice(0, this.#expectedCapacity)) waiter.fail(error);
    }
  }
}
