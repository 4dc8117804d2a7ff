import { apiVersionOf } from '@bowline/kubernetes';
import { type Clock, type FieldProblem, quoteText } from '@bowline/machinery';
import { isTrue } from '../http/request-info.ts';
import { viewed } from '../printing/render.ts';
import type { ApiResource } from '../registry/api-resource.ts';
import { expired, invalid } from '../status/api-status.ts';
import type { Change } from '../storage/history.ts';
import { type Stored, textWith } from '../storage/stored.ts';
import type { RequestContext } from './context.ts';
import { type Filter, filterOf, readInteger, readVersion } from './list-options.ts';
import { untilWritten } from './read.ts';

/**
 * How many bytes may be queued for a watcher before it is closed: it reconnects and continues from its last version.
 */
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
const BOOKMARK_INTERVAL_MS = 60_000;
const DEFAULT_TIMEOUT_MS = 30 * 60_000;

/** EventText serializes an event's object in the representation that the client requested. */
export type EventText = (stored: Stored, isFirst: boolean) => string;

/**
 * watchEvents returns the body of a watch: the current objects, if the client wants them, then the changes, in order
 * and without gaps. It ends at the client's time limit, when the client disconnects, or when it reads too slowly.
 */
export async function watchEvents(context: RequestContext, eventText: EventText): Promise<AsyncIterable<string>> {
  const { storage, registry, resource, info, query, clock, request } = context;
  const filter = filterOf(resource, query, info.name);
  const wanted = watchOptions(context);
  await untilWritten(context, wanted.from ?? 0);
  const inside = (key: string): boolean => info.namespace === '' || key.startsWith(`${info.namespace}/`);

  const events = new EventQueue(clock, request.signal, wanted.timeoutMs);
  const pushEvent = (change: Change): void => {
    if (!inside(change.key)) return;
    const event = eventFor(viewedChange(resource, change), filter);
    if (event) events.push(`{"type":"${event.type}","object":${eventText(event.object, false)}}\n`);
  };
  if (wanted.sendInitial) {
    const namespace = info.namespace === '' ? undefined : info.namespace;
    // The states at this moment; they are serialized when the client reads them.
    const states = [...storage.select(resource.collection, { namespace })];
    events.begin(
      initialEvents(
        resource,
        states,
        filter,
        eventText,
        wanted.marksEnd ? bookmark(resource, storage.revision, true) : '',
      ),
    );
  } else if (wanted.from !== undefined) {
    if (wanted.from < storage.oldestRevision) {
      // The watch has already started when this is detected: the error is its only event.
      const error = expired(`too old resource version: ${wanted.from} (${storage.oldestRevision + 1})`);
      events.push(`{"type":"ERROR","object":${JSON.stringify(error.toStatus())}}\n`);
      events.end();
      return events;
    }
    for (const change of storage.changesSince(resource.collection, wanted.from)) pushEvent(change);
  }
  events.onEnd(storage.watch(resource.collection, pushEvent));
  // When the resource changes or is no longer served, the watch ends, so that clients start a new one.
  const isServed = (): boolean => registry.find(resource.group, resource.version, resource.resource) === resource;
  events.onEnd(registry.onChange(() => isServed() || events.end()));
  if (wanted.bookmarks) events.every(BOOKMARK_INTERVAL_MS, () => bookmark(resource, storage.revision, false));
  return events;
}

function* initialEvents(
  resource: ApiResource,
  states: readonly Stored[],
  filter: Filter,
  eventText: EventText,
  end: string,
): Generator<string> {
  let isFirst = true;
  for (const state of states) {
    const stored = viewed(resource, state);
    if (!filter.matches(stored)) continue;
    yield `{"type":"ADDED","object":${eventText(stored, isFirst)}}\n`;
    isFirst = false;
  }
  if (end !== '') yield end;
}

const NOT_OLDER = 'NotOlderThan';

interface WatchOptions {
  readonly from: number | undefined;
  readonly sendInitial: boolean;
  readonly marksEnd: boolean;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
}

function watchOptions({ query }: RequestContext): WatchOptions {
  const from = readVersion(query.get('resourceVersion'));
  const bookmarks = query.get('allowWatchBookmarks') === 'true' || query.get('allowWatchBookmarks') === '1';
  const initial = query.get('sendInitialEvents');
  const match = query.get('resourceVersionMatch') ?? '';
  readInteger(query.get('limit'));
  const seconds = readInteger(query.get('timeoutSeconds')) ?? 0;
  const timeoutMs = seconds > 0 ? seconds * 1_000 : DEFAULT_TIMEOUT_MS;
  const wrong = (message: string): never => {
    const field = 'resourceVersionMatch';
    const problems: FieldProblem[] = [{ field, reason: 'FieldValueForbidden', message: `Forbidden: ${message}` }];
    if (match !== '' && match !== NOT_OLDER) {
      const unsupported = `Unsupported value: ${quoteText(match)}: supported values: "${NOT_OLDER}"`;
      problems.push({ field, reason: 'FieldValueNotSupported', message: unsupported });
    }
    throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', problems);
  };
  if (query.get('continue')) wrong('resourceVersionMatch is forbidden when continue is provided');
  if (initial === null) {
    if (match !== '') wrong('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
    return { from, sendInitial: from === undefined || from === 0, marksEnd: false, bookmarks, timeoutMs };
  }
  if (match !== NOT_OLDER) wrong(`sendInitialEvents requires setting resourceVersionMatch to ${NOT_OLDER}`);
  const sendInitial = isTrue(initial);
  return { from, sendInitial, marksEnd: sendInitial && bookmarks, bookmarks, timeoutMs };
}

function viewedChange(resource: ApiResource, change: Change): Change {
  if (!resource.viewOf) return change;
  const [previous, current, last] = [change.previous, change.current, change.last].map(
    (state) => state && viewed(resource, state),
  );
  return { ...change, previous, current, last };
}

/** eventFor returns the event of a change for a client that sees the collection through a filter. */
function eventFor(
  { previous, current, last }: Change,
  filter: Filter,
): { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Stored } | undefined {
  const was = previous !== undefined && filter.matches(previous);
  const is = current !== undefined && filter.matches(current);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object: current };
  if (!was) return undefined;
  // An object that left the selection is sent in its last selected state, at the version of the change.
  if (current) return { type: 'DELETED', object: { ...previous, json: textWith(previous, current.revision) } };
  return last && { type: 'DELETED', object: last };
}

function bookmark(resource: ApiResource, revision: number, isEnd: boolean): string {
  const annotations = isEnd ? { 'k8s.io/initial-events-end': 'true' } : undefined;
  const metadata = { resourceVersion: String(revision), annotations };
  return `${JSON.stringify({ type: 'BOOKMARK', object: { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata } })}\n`;
}

/** EventQueue holds the events that a watcher has not read yet. Many lines are read as one chunk. */
class EventQueue implements AsyncIterable<string> {
  readonly #clock: Clock;
  readonly #disposables: Disposable[] = [];
  #first: Iterator<string> | undefined;
  #waiting: string[] = [];
  #bytes = 0;
  #isOver = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock, signal: AbortSignal, timeoutMs: number) {
    this.#clock = clock;
    const end = (): void => this.end();
    signal.addEventListener('abort', end, { once: true });
    this.#disposables.push(clock.setTimer(timeoutMs, end));
    if (signal.aborted) this.end();
  }

  /** begin puts lines before everything else; they are generated when they are read. */
  begin(lines: Iterable<string>): void {
    this.#first = lines[Symbol.iterator]();
  }

  push(line: string): void {
    if (this.#isOver) return;
    this.#waiting.push(line);
    this.#bytes += line.length;
    if (this.#bytes > MAX_QUEUED_BYTES) this.end();
    this.#wake?.();
  }

  every(periodMs: number, line: () => string): void {
    let timer: Disposable | undefined;
    const next = (): void => {
      timer = this.#clock.setTimer(periodMs, () => {
        // Scheduled before the push, which closes a watcher that reads too slowly.
        next();
        this.push(line());
      });
    };
    next();
    this.onEnd({ [Symbol.dispose]: () => timer?.[Symbol.dispose]() });
  }

  onEnd(disposable: Disposable): void {
    if (this.#isOver) disposable[Symbol.dispose]();
    else this.#disposables.push(disposable);
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const each of this.#disposables) each[Symbol.dispose]();
    this.#disposables.length = 0;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    try {
      for (;;) {
        if (this.#first) {
          const chunk = this.#nextOfFirst(this.#first);
          if (chunk === '') this.#first = undefined;
          else yield chunk;
        } else if (this.#waiting.length > 0) {
          const chunk = this.#waiting.join('');
          this.#waiting = [];
          this.#bytes = 0;
          yield chunk;
        } else if (this.#isOver) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          this.#wake = undefined;
        }
      }
    } finally {
      this.end();
    }
  }

  #nextOfFirst(lines: Iterator<string>): string {
    let chunk = '';
    while (chunk.length < CHUNK_BYTES) {
      const next = lines.next();
      if (next.done === true) break;
      chunk += next.value;
    }
    return chunk;
  }
}
