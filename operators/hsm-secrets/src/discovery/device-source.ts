import type { HSMDevice } from '../api/hsm-device.ts';
import type { FoundDevice } from './found-device.ts';

/** SearchSpec is the part of the spec of an HSMDevice that a search depends on. */
export type SearchSpec = Pick<HSMDevice['spec'], 'deviceType' | 'discovery' | 'scanInterval'>;

/**
 * DeviceSource finds the devices of a node. Paths have at most 1,024 characters and serial numbers at most 128: a report
 * accepts no more.
 */
export interface DeviceSource {
  /**
   * scan returns all devices of the node that the spec selects, in a stable order. It throws an error whose message
   * states the remedy if the node cannot be searched; it never returns a part of the devices.
   */
  scan(spec: SearchSpec): Promise<readonly FoundDevice[]>;
  /**
   * changes yields shortly after devices may have been added or removed, at most once per 250 ms. It is only a hint:
   * changes may be missed. It ends when the signal is aborted.
   */
  changes(signal: AbortSignal): AsyncIterable<void>;
}
