/**
 * InformerState is the current activity of an informer:
 * - `idle`: not started; `syncing`: fetching its first complete state; `watching`: current;
 * - `backing-off`: the last attempt failed, the stored objects may be out of date;
 * - `not-served`: the server does not know the kind (yet); `forbidden`: the identity may not read it; `stopped`.
 */
export type InformerState = 'idle' | 'syncing' | 'watching' | 'backing-off' | 'not-served' | 'forbidden' | 'stopped';

/** ReconnectReason is the reason why a watch had to be reopened. */
export type ReconnectReason =
  | 'closed'
  | 'short'
  | 'idle'
  | 'transport'
  | 'decode'
  | 'expired'
  | 'rewound'
  | 'throttled'
  | 'server-error'
  | 'unauthorized'
  | 'forbidden'
  | 'not-served'
  | 'no-end-bookmark'
  | 'other';

/** RECONNECT_REASONS lists all reasons, so that every series can start at zero. */
export const RECONNECT_REASONS: readonly ReconnectReason[] = [
  'closed',
  'short',
  'idle',
  'transport',
  'decode',
  'expired',
  'rewound',
  'throttled',
  'server-error',
  'unauthorized',
  'forbidden',
  'not-served',
  'no-end-bookmark',
  'other',
];

/** InformerHealth reports the health of one informer. */
export interface InformerHealth {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly view: 'full' | 'metadata' | 'project' | 'project-metadata' | 'trigger';
  /** The namespaces that are watched separately; absent if all namespaces are watched. */
  readonly namespaces?: readonly string[];
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** The worst state among its watches. */
  readonly state: InformerState;
  /** Why the state is not `watching`, and how to fix it. */
  readonly reason?: string;
  readonly synced: boolean;
  /** Whether the server serves the kind; absent as long as that is not known. */
  readonly served?: boolean;
  /** Whether every user of the informer works without the kind: that it is not served is not a problem then. */
  readonly optional: boolean;
  /** Wall time of the last complete list, in milliseconds since the epoch. */
  readonly syncedAt?: number;
  /** The number of objects visible to readers. */
  readonly objects: number;
  /** The number of own writes that the watch has not confirmed yet. */
  readonly unconfirmedWrites: number;
  /** Time since the last event; absent before the first. */
  readonly lastEventAgeMs?: number;
  /** Time since the last bookmark; absent before the first. */
  readonly lastBookmarkAgeMs?: number;
  /**
   * Time since the least recently active watch was last active: event, bookmark or acknowledged PING. Absent while no
   * watch is open.
   */
  readonly aliveAgeMs?: number;
  /** The number of complete lists after the first. */
  readonly relists: number;
  /** The number of 410 responses: the server no longer had the requested history. */
  readonly expired: number;
  /** The number of times the server's history went back (a restored etcd). */
  readonly rewinds: number;
  readonly decodeErrors: number;
  /** The number of events skipped because of their type or kind. */
  readonly skippedEvents: number;
  readonly projectionErrors: number;
  readonly handlerErrors: number;
  readonly reconnects: Readonly<Record<ReconnectReason, number>>;
}
