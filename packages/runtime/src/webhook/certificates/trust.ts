/**
 * Trust is the webhook configurations as far as certificates go: they tell the API servers which authorities to believe.
 */
export interface Trust {
  /** bundles are what the configurations hold, as last seen: one text per webhook, empty where there is none. */
  bundles(): readonly string[];
  /** ownBundles are those of configurations that belong to the operator: nobody else's authorities become its own. */
  ownBundles(): readonly string[];
  /** isCurrent says whether every configuration, as last seen, holds exactly this bundle. */
  isCurrent(bundle: string): boolean;
  /**
   * spread makes every configuration hold the bundle. It asks for the bundle after it has read a configuration and writes
   * only if that has not changed since, so that a replica that lags behind cannot take a new authority away again.
   */
  spread(bundle: () => Promise<string | undefined>, signal: AbortSignal): Promise<void>;
  /** subscribe is told when a configuration changes. */
  subscribe(listener: () => void): Disposable;
  /** synced resolves once the configurations have been seen. */
  synced(signal: AbortSignal): Promise<void>;
}

/** noTrust is for certificates that others make known to the API server. */
export const noTrust: Trust = {
  bundles: () => [],
  ownBundles: () => [],
  isCurrent: () => true,
  spread: () => Promise.resolve(),
  subscribe: () => ({ [Symbol.dispose]() {} }),
  synced: () => Promise.resolve(),
};
