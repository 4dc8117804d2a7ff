import type { Clock, JsonObject } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { TokenAccess } from '@bowline/runtime/access';
import type { Client } from '@bowline/runtime/client';
import type { Agents } from '../agent-client/agent-directory.ts';
import type { HSMDevice } from '../api/hsm-device.ts';
import type { HSMPool } from '../api/hsm-pool.ts';
import type { PoolDevices } from './pool-devices.ts';

/** AUDIENCE is the audience of the tokens that the API accepts: a leaked one is useless at the API server. */
export const AUDIENCE = 'hsm-secrets-api';

/** API_PREFIX begins the path of every request. */
export const API_PREFIX = '/api/v1/';

/** ApiTools is what requests are answered with. */
export interface ApiTools {
  /** Reads at any time, and writes only while this replica leads. */
  readonly client: Client;
  readonly agents: Agents;
  readonly access: Pick<TokenAccess, 'decide'>;
  /** isLeader reports whether this replica may write to the cluster. */
  readonly isLeader: () => boolean;
  /** requestMirror asks for a comparison of the devices of a pool, `namespace/name`, after a write. */
  readonly requestMirror: (pool: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** ApiCall is a request that is permitted, and what it is about. */
export interface ApiCall {
  readonly authorization: string;
  /** The name of the caller. */
  readonly user: string;
  readonly device: HSMDevice;
  /** `namespace/name` of the HSMDevice. */
  readonly deviceKey: string;
  /** `namespace/name` of its HSMPool. */
  readonly poolKey: string;
  readonly pool: HSMPool | undefined;
  readonly devices: PoolDevices;
  /** The path of the secret; empty for requests about none. */
  readonly path: string;
  readonly query: ReadonlyMap<string, string>;
  /** Empty for requests without a body. */
  readonly body: JsonObject;
  /** Aborted when the server stops, and for reads also when the caller is gone. */
  readonly signal: AbortSignal;
}

/** ApiResult is the successful response to a request. */
export interface ApiResult {
  /** Defaults to 200. */
  readonly status?: number | undefined;
  readonly message: string;
  readonly data: unknown;
}
