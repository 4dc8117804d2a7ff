import { type InformerState, RECONNECT_REASONS, type ReconnectReason } from './health.ts';

/** ReflectorStatus is what a reflector knows about itself; informer health and metrics are made of it. */
export interface ReflectorStatus {
  state: InformerState;
  /** Why the state is not `watching`. */
  reason: string | undefined;
  synced: boolean;
  /** Monotonic wire times. */
  lastEventAt: number | undefined;
  lastBookmarkAt: number | undefined;
  /** Asks the open watch for its last sign of life; undefined while none is open. */
  aliveAt: (() => number) | undefined;
  relists: number;
  expired: number;
  rewinds: number;
  decodeErrors: number;
  skippedEvents: number;
  readonly reconnects: Record<ReconnectReason, number>;
}

/** newReflectorStatus is the status before the first attempt. */
export function newReflectorStatus(): ReflectorStatus {
  return {
    state: 'idle',
    reason: undefined,
    synced: false,
    lastEventAt: undefined,
    lastBookmarkAt: undefined,
    aliveAt: undefined,
    relists: 0,
    expired: 0,
    rewinds: 0,
    decodeErrors: 0,
    skippedEvents: 0,
    reconnects: Object.fromEntries(RECONNECT_REASONS.map((reason) => [reason, 0])) as Record<ReconnectReason, number>,
  };
}
