import type { ObjectKey } from '@bowline/kubernetes';
import { isSameJson, parseDuration } from '@bowline/machinery';
import { project } from '@bowline/runtime';
import type { Cache } from '@bowline/runtime/cache';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { poolName } from '../api/names.ts';
import { heartbeatMs } from '../reports/heartbeat.ts';
import type { SearchSpec } from './device-source.ts';

/** WatchDeviceOptions configures who is notified. */
export interface WatchDeviceOptions {
  /** Called when the search spec has changed. */
  readonly onSpec: () => void;
  /** Called when the heartbeat may have changed. */
  readonly onHeartbeat: () => void;
}

/** WatchedDevice is the HSMDevice that a process searches for, as it is now. */
export interface WatchedDevice {
  /** synced resolves when it is known whether the HSMDevice exists. It rejects if the signal is aborted before. */
  synced(signal: AbortSignal): Promise<void>;
  /** spec returns what to search for; undefined if the HSMDevice does not exist or is suspended. */
  spec(): SearchSpec | undefined;
  /** heartbeatMs returns how often the report is repeated. */
  heartbeatMs(): number;
}

/** The default of the HSMPool, for a pool that does not exist yet. */
const DEFAULT_GRACE_MS = 300_000;

const searchView = project(({ spec }: HSMDevice) => ({
  deviceType: spec.deviceType,
  discovery: spec.discovery,
  scanInterval: spec.scanInterval,
  suspend: spec.suspend,
}));
const graceView = project(({ spec }: HSMPool) => ({ gracePeriod: spec.gracePeriod }));

/**
 * watchDevice watches an HSMDevice and its HSMPool by name. A suspended HSMDevice counts as missing, because its
 * discovery is to be removed. A paused one does not: a report is an observation, and without it the devices would
 * become unavailable.
 */
export function watchDevice(
  cache: Cache,
  { namespace = '', name }: ObjectKey,
  { onSpec, onHeartbeat }: WatchDeviceOptions,
): WatchedDevice {
  const pool = { namespace, name: poolName(name) };
  const only = (key: ObjectKey) => ({ namespaces: [namespace], fieldSelector: `metadata.name=${key.name}` });
  const devices = cache.informer(HSMDevice, { view: searchView, ...only({ name }) });
  const pools = cache.informer(HSMPool, { view: graceView, ...only(pool) });
  devices.subscribe(({ previous, current }) => {
    if (!isSameJson(previous, current)) onSpec();
  });
  pools.subscribe(({ previous, current }) => {
    if (!isSameJson(previous, current)) onHeartbeat();
  });
  return {
    synced: (signal) => devices.synced(signal),
    spec() {
      const view = devices.get({ namespace, name });
      return view?.suspend ? undefined : view;
    },
    heartbeatMs: () => heartbeatMs(durationOf(pools.get(pool)?.gracePeriod, DEFAULT_GRACE_MS)),
  };
}

/** durationOf returns a duration in milliseconds. A stored object may predate the schema that requires it. */
export function durationOf(text: string | undefined, defaultMs: number): number {
  try {
    return text === undefined ? defaultMs : parseDuration(text);
  } catch {
    return defaultMs;
  }
}
