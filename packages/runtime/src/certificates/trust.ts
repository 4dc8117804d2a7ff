/**
 * Trust represents the CA bundles that must contain the CA of a certificate, such as those of webhook configurations,
 * which define the CAs that API servers trust.
 */
export interface Trust {
  /** bundles returns the last observed bundles; empty text for a place without a bundle. */
  bundles(): readonly string[];
  /**
   * ownBundles returns the bundles that belong to the operator: the CAs of others are never adopted.
   */
  ownBundles(): readonly string[];
  /** isCurrent returns whether every place, as last observed, has exactly this bundle. */
  isCurrent(bundle: string): boolean;
  /**
   * distribute writes the bundle to every place. It computes the bundle after it has read a place and writes only if
   * that has not changed since, so that a lagging replica cannot remove a new CA.
   */
  distribute(bundle: () => Promise<string | undefined>, signal: AbortSignal): Promise<void>;
  /** subscribe calls the listener when a bundle changes. */
  subscribe(listener: () => void): Disposable;
  /** synced resolves once the bundles have been read. */
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
