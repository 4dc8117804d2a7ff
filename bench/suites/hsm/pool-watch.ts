import type { PoolStatus } from '../../../operators/hsm-secrets/src/api/hsm-pool.ts';
import { BareObserver } from '../../support/bare-observer.ts';
import { watchListPath } from '../../support/bare-watch.ts';
import { poolsPath } from './requests.ts';
import type { HsmScene } from './scene.ts';

/** PoolWatch observes the pool of a namespace with a bare watch. */
export interface PoolWatch extends Disposable {
  /** until waits for a status, and returns when it was observed, as `performance.now()`. */
  until(condition: (status: Partial<PoolStatus>) => boolean): Promise<number>;
}

/** watchPool starts to watch the only pool of a namespace. */
export async function watchPool({ connection }: HsmScene, namespace: string): Promise<PoolWatch> {
  let status: Partial<PoolStatus> = {};
  let arrivedMs = 0;
  const observer = new BareObserver(connection, [watchListPath(poolsPath(namespace))], (event, at) => {
    // The watch is one of pools.
    status = event.type === 'DELETED' ? {} : ((event.object as { status?: PoolStatus }).status ?? {});
    arrivedMs = at;
  });
  try {
    await observer.synced();
  } catch (error) {
    observer[Symbol.dispose]();
    throw error;
  }
  return {
    async until(condition) {
      const describe = (): string => {
        const { phase, expectedPods, reportingPodCount, totalDevices, availableDevices } = status;
        const found = { phase, expectedPods, reportingPodCount, totalDevices, availableDevices };
        return `for the pool of ${namespace}; found ${JSON.stringify(found)}`;
      };
      await observer.until(() => condition(status), { timeoutMs: 120_000, describe });
      return arrivedMs;
    },
    [Symbol.dispose]: () => observer[Symbol.dispose](),
  };
}
