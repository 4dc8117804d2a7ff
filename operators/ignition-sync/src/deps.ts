import type { Random } from '@bowline/machinery';
import type { AuthorReviewDeps } from '@bowline/runtime/access';
import type { Config } from './config.ts';
import type { GlobalPause } from './memory/global-pause.ts';
import type { SyncMemory } from './memory/sync-memory.ts';
import type { IgnitionSyncMetrics } from './metrics.ts';
import type { ReceiverDeps } from './receiver/receiver-service.ts';
import type { GitSources } from './source/git-sources.ts';

/** Deps holds the dependencies of the controllers besides the cluster. */
export interface Deps extends AuthorReviewDeps {
  readonly config: Config;
  readonly metrics: IgnitionSyncMetrics;
  readonly random: Random;
  readonly sources: GitSources;
  readonly pause: GlobalPause;
  readonly memory: SyncMemory;
  /** The image of agents. Undefined if it is neither configured nor known. */
  readonly agentImage: string | undefined;
  /** What the receiver of webhooks needs. */
  readonly receiver: ReceiverDeps;
}
