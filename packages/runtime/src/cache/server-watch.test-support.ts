import type { Clock, Timer } from '@bowline/machinery';
import { TransportError } from '@bowline/runtime/client';
import { ByteStream } from '../../../../test/proofs/reflector/byte-stream.ts';
import type { Revision, StoredObject } from './history.test-support.ts';

const HELD_LIMIT = 50;

/** ServerWatchOptions holds the parameters of a watch. */
export interface ServerWatchOptions {
  readonly wire: Clock;
  readonly matches: (object: StoredObject) => boolean;
  readonly metadataOnly: boolean;
  readonly bookmarks: boolean;
  /** Only changes after this version are sent. */
  readonly after: number;
  readonly timeoutMs: number | undefined;
  readonly onEnd: (watch: ServerWatch) => void;
}

/** ServerWatch is an open watch on the server side, with ways to break it. */
export class ServerWatch {
  readonly body = new ByteStream();
  readonly #options: ServerWatchOptions;
  readonly #timers: Timer[] = [];
  #sent: number;
  /** Lines held by a stalled connection; undefined while it flows. */
  #held: string[] | undefined;
  #frozenAt: number | undefined;
  #lastBookmark = '';
  #spoil: 'garble' | 'truncate' | undefined;

  constructor(options: ServerWatchOptions) {
    this.#options = options;
    this.#sent = options.after;
    if (options.timeoutMs !== undefined)
      this.#timers.push(options.wire.setTimer(options.timeoutMs, () => this.close()));
  }

  /** aliveAt returns when the peer was last active: now, unless the connection is half open. */
  aliveAt(): number {
    return this.#frozenAt ?? this.#options.wire.monotonic();
  }

  /** own cancels a timer when the watch ends. */
  own(timer: Timer): void {
    this.#timers.push(timer);
  }

  /** wantsBookmarks returns whether bookmarks were requested. */
  get wantsBookmarks(): boolean {
    return this.#options.bookmarks;
  }

  /** initial sends an object of the initial state. */
  initial(object: StoredObject): void {
    if (this.#options.matches(object)) this.#send('ADDED', this.#view(object));
  }

  /** follow sends the changes that the watch has not seen. */
  follow(revisions: readonly Revision[]): void {
    for (const revision of revisions) {
      if (revision.version <= this.#sent) continue;
      this.#sent = revision.version;
      const was = revision.before !== undefined && this.#options.matches(revision.before);
      const is = !revision.deleted && this.#options.matches(revision.after);
      if (was || is) this.#send(is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED', this.#view(revision.after));
    }
  }

  /** bookmark sends the server's version; real servers send none that is not past the start of the watch. */
  bookmark(version: number, endsInitialState = false): void {
    if (!endsInitialState && version < this.#sent) return;
    this.#sent = Math.max(this.#sent, version);
    const annotations = endsInitialState ? { 'k8s.io/initial-events-end': 'true' } : undefined;
    const metadata = { resourceVersion: String(version), creationTimestamp: null, ...(annotations && { annotations }) };
    this.#lastBookmark = lineOf('BOOKMARK', { ...this.#typeMeta(), metadata });
    this.#write(this.#lastBookmark);
  }

  /** repeatBookmark sends the last bookmark again. */
  repeatBookmark(): void {
    if (this.#lastBookmark) this.#write(this.#lastBookmark);
  }

  /** error sends a Status and ends the watch. */
  error(status: object): void {
    this.#write(lineOf('ERROR', status));
    this.close();
  }

  /** raw sends any text. */
  raw(text: string): void {
    this.#write(text);
  }

  /** spoilNext makes the next change unreadable: its line is garbled, or truncated together with the connection. */
  spoilNext(how: 'garble' | 'truncate'): void {
    this.#spoil = how;
  }

  /** stall holds everything, while PINGs are still acknowledged; `resume` releases it. */
  stall(): void {
    this.#held ??= [];
  }

  resume(): void {
    if (this.#frozenAt !== undefined) return;
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const line of held) this.body.write(line);
  }

  /**
   * freeze makes the connection half open: nothing arrives any more, PINGs are not acknowledged, and no error is
   * reported.
   */
  freeze(): void {
    this.#frozenAt ??= this.#options.wire.monotonic();
    this.#held ??= [];
  }

  /** close ends the watch cleanly. A frozen connection cannot report it. */
  close(): void {
    if (this.#frozenAt !== undefined) return;
    this.resume();
    this.body.end();
    this.#ended();
  }

  /** cut breaks the connection. */
  cut(reason = 'the peer went away'): void {
    this.body.fail(new TransportError('BOWLINE_TRANSPORT_CONNECTION_LOST', reason));
    this.#ended();
  }

  /** abandon ends the watch on the client side. */
  abandon(reason: unknown): void {
    this.body.fail(reason);
    this.#ended();
  }

  #ended(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#options.onEnd(this);
  }

  #typeMeta(): { apiVersion: string; kind: string } {
    return this.#options.metadataOnly
      ? { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' }
      : { apiVersion: 'v1', kind: 'ConfigMap' };
  }

  #view(object: StoredObject): object {
    return this.#options.metadataOnly ? { ...this.#typeMeta(), metadata: object.metadata } : object;
  }

  #send(type: string, object: object): void {
    const line = lineOf(type, object);
    const spoil = this.#spoil;
    this.#spoil = undefined;
    if (spoil === undefined) {
      this.#write(line);
      return;
    }
    const half = line.slice(0, Math.floor(line.length / 2));
    this.#write(spoil === 'garble' ? `${half}\n` : half);
    if (spoil === 'truncate') this.close();
  }

  #write(line: string): void {
    if (!this.#held) {
      this.body.write(line);
      return;
    }
    this.#held.push(line);
    // A server drops a watcher that does not keep up.
    if (this.#held.length > HELD_LIMIT && this.#frozenAt === undefined) this.cut('the reader was too slow');
  }
}

function lineOf(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}
