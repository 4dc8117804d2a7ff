import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';

/** BareObject is the part of an object that the bare loops need. */
export interface BareObject {
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    resourceVersion: string;
    deletionTimestamp?: string;
    annotations?: Record<string, string>;
    managedFields?: unknown;
  };
  data?: Record<string, string>;
  spec?: unknown;
}

/** BareEvent is one line of a watch. */
export interface BareEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: BareObject;
}

/** watchListPath returns the path that streams the current state and then the changes. */
export function watchListPath(collection: string): string {
  return `${collection}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
}

/**
 * bareWatch is the minimum a Node program can do to follow a watch: split lines, parse, drop managedFields, deliver. It is the
 * raw limit the runtime is compared with. `onEvent` also gets the time at which the line's chunk arrived.
 */
export function bareWatch(
  session: ClientHttp2Session,
  path: string,
  onEvent: (event: BareEvent, arrivedMs: number) => void,
): ClientHttp2Stream {
  const stream = session.request({ ':path': path, accept: 'application/json' });
  let rest: Buffer | undefined;
  stream.on('data', (chunk: Buffer) => {
    const arrivedMs = performance.now();
    const data: Buffer = rest === undefined ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = data.indexOf(10, from); end >= 0; end = data.indexOf(10, from)) {
      const event = JSON.parse(data.toString('utf8', from, end)) as BareEvent;
      if (event.type === 'ERROR') throw new Error(`the watch of ${path} ended with ${JSON.stringify(event.object)}`);
      event.object.metadata.managedFields = undefined;
      onEvent(event, arrivedMs);
      from = end + 1;
    }
    rest = from < data.length ? data.subarray(from) : undefined;
  });
  return stream;
}

/** endsSnapshot returns whether an event is the bookmark that ends the initial events. */
export function endsSnapshot(event: BareEvent): boolean {
  return event.type === 'BOOKMARK' && event.object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
}

/** bareKey returns the key of the bare loops' maps. */
export function bareKey(object: BareObject): string {
  return `${object.metadata.namespace}/${object.metadata.name}`;
}
