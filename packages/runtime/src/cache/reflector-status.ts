import { type InformerState, RECONNECT_REASONS, type ReconnectReason } from './health.ts';

/** ReflectorStatus is the internal state of a reflector, from which informer health and metrics are computed. */
export interface ReflectorStatus {
  state: InformerState;
  /** Why the state is not `watching`. */
  reason: string | undefined;
  synced: boolean;
  /** Whether the server serves the kind; undefined as long as no response has shown it. */
  served: boolean | undefined;
  /** Monotonic wire times. */
  lastEventAt: number | undefined;
  lastBookmarkAt: number | undefined;
  /** Returns when the open watch was last active; undefined while no watch is open. */
  aliveAt: (() => number) | undefined;
  relists: number;
  expired: number;
  rewinds: number;
  decodeErrors: number;
  skippedEvents: number;
  readonly reconnects: Record<ReconnectReason, number>;
}

/** newReflectorStatus returns the status before the first attempt. */
export function newReflectorStatus(): ReflectorStatus {
  return {
    state: 'idle',
    reason: undefined,
    synced: false,
    served: undefined,
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
