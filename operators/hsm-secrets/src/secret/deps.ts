import type { BoundedMap } from '@bowline/machinery';
import type { Agents } from '../agent-client/agent-directory.ts';
import type { Config } from '../config.ts';
import type { HsmMetrics } from '../metrics.ts';
import type { ChecksumRounds } from './checksum-rounds.ts';
import type { ParentRef } from './parent.ts';

/** SecretDeps holds the dependencies of the controller of HSMSecrets besides the cluster. */
export interface SecretDeps {
  readonly config: Config;
  readonly agents: Agents;
  readonly metrics: HsmMetrics;
  /** The values of parentRef with which an HSMSecret belongs to this operator. */
  readonly parentRefs: readonly ParentRef[];
  readonly checksums: ChecksumRounds;
  /** The hashes of Secrets that are not stored as they were written, by the key of the HSMSecret. */
  readonly modifiedSecrets: BoundedMap<string, string>;
}
