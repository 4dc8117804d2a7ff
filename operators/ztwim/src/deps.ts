import type { CertificateAuthority } from '@bowline/runtime/certificates';
import type { Config } from './config.ts';
import type { ZtwimMetrics } from './metrics.ts';
import type { RolloutPace } from './rollout/rollout-pace.ts';

/** Deps holds the dependencies of the controllers besides the cluster. */
export interface Deps {
  readonly config: Config;
  /** The namespace of the manager. */
  readonly namespace: string;
  readonly metrics: ZtwimMetrics;
  readonly rollouts: RolloutPace;
  /** The CA of serving certificates. */
  readonly authority: CertificateAuthority;
}
