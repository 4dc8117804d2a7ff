/** Trust represents the CA bundles of the webhook configurations: they define which CAs the API servers trust. */
export interface Trust {
  /** bundles returns the last observed bundles of the configurations: one per webhook, empty if it has none. */
  bundles(): readonly string[];
  /**
   * ownBundles returns the bundles of configurations that belong to the operator: the CAs of others are never adopted.
   */
  ownBundles(): readonly string[];
  /** isCurrent returns whether every configuration, as last observed, has exactly this bundle. */
  isCurrent(bundle: string): boolean;
  /**
   * distribute writes the bundle to every configuration. It computes the bundle after it has read a configuration and
   * writes only if that has not changed since, so that a lagging replica cannot remove a new CA.
   */
  distribute(bundle: () => Promise<string | undefined>, signal: AbortSignal): Promise<void>;
  /** subscribe calls the listener when a configuration changes. */
  subscribe(listener: () => void): Disposable;
  /** synced resolves once the configurations have been read. */
  synced(signal: AbortSignal): Promise<void>;
}

/** noTrust is for certificates whose CA is published by others. */
export const noTrust: Trust = {
  bundles: () => [],
  ownBundles: () => [],
  isCurrent: () => true,
  distribute: () => Promise.resolve(),
  subscribe: () => ({ [Symbol.dispose]() {} }),
  synced: () => Promise.resolve(),
};
