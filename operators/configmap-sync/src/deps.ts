import type { AccessReviews } from '@bowline/runtime/access';
import type { Read } from '@bowline/runtime/resource';
import type { config } from './config.ts';
import type { SyncMetrics } from './metrics.ts';

/** Deps holds the dependencies of the controller besides the cluster. */
export interface Deps {
  readonly config: Read<typeof config>;
  readonly metrics: SyncMetrics;
  readonly reviews: AccessReviews;
  /** The manager's namespace. */
  readonly ownNamespace: string;
  /** The namespaces that the manager is limited to. Undefined: it works in the whole cluster. */
  readonly namespaces: readonly string[] | undefined;
}
