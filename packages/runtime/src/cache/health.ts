/**
 * InformerState is what an informer is doing:
 * - `idle`: not started; `syncing`: fetching its first complete state; `watching`: current;
 * - `backing-off`: the last attempt failed, what is stored may be out of date;
 * - `not-served`: the server does not know the kind (yet); `forbidden`: the identity may not read it; `stopped`.
 */
export type InformerState = 'idle' | 'syncing' | 'watching' | 'backing-off' | 'not-served' | 'forbidden' | 'stopped';

/** ReconnectReason is why a watch had to be opened again. */
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

/** RECONNECT_REASONS are all reasons, so that every series can start at zero. */
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

/** InformerHealth is what an operator's operator wants to know about one informer. */
export interface InformerHealth {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly view: 'full' | 'metadata' | 'project' | 'project-metadata' | 'trigger';
  /** The namespaces watched one by one; absent when all are. */
  readonly namespaces?: readonly string[];
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** The worst state of its watches. */
  readonly state: InformerState;
  /** Why the state is not `watching`, and what to do about it. */
  readonly reason?: string;
  readonly synced: boolean;
  /** Wall time of the last complete list, in milliseconds since the epoch. */
  readonly syncedAt?: number;
  /** Objects that reads can see. */
  readonly objects: number;
  /** Own writes that the watch has not confirmed yet. */
  readonly unconfirmedWrites: number;
  /** Time since the last event; absent before the first. */
  readonly lastEventAgeMs?: number;
  /** Time since the last bookmark; absent before the first. */
  readonly lastBookmarkAgeMs?: number;
  /** Time since the oldest of its watches last showed life: event, bookmark or answered PING. Absent while none is open. */
  readonly aliveAgeMs?: number;
  /** Complete lists after the first. */
  readonly relists: number;
  /** Answers 410: the server no longer had the history asked for. */
  readonly expired: number;
  /** Times the server's history went back (a restored etcd). */
  readonly rewinds: number;
  readonly decodeErrors: number;
  /** Events skipped because of their type or kind. */
  readonly skippedEvents: number;
  readonly projectionErrors: number;
  readonly handlerErrors: number;
  readonly reconnects: Readonly<Record<ReconnectReason, number>>;
}
