import type { HSMPool } from '@bowline/hsm-secrets';

/** ExpectedDevice is the expected state of an HSMDevice and its pool. */
export interface ExpectedDevice {
  /** The `namespace/name` of the HSMDevice. */
  readonly key: string;
  readonly state: 'active' | 'suspended' | 'gone';
  /** The serial numbers that its pod reports. */
  readonly serials: readonly string[];
  /** The serial numbers that its pod reported before: they may still be listed. */
  readonly lost: readonly string[];
  /** The name of its pod. */
  readonly podName: string;
}

/** Found is what exists in the namespaces of a case. */
export interface Found {
  /** By `namespace/name`. */
  readonly pools: ReadonlyMap<string, HSMPool>;
  /** The objects that the operator creates besides pools, as `kind namespace/name`. */
  readonly objects: ReadonlySet<string>;
}

/** judge returns what is missing, left over or wrong. */
export function judge({ pools, objects }: Found, expected: readonly ExpectedDevice[]): readonly string[] {
  const wanted = new Set(expected.flatMap(objectsOf));
  const wantedPools = new Map(expected.flatMap((each) => (each.state === 'gone' ? [] : [[poolOf(each), each]])));
  return [
    ...[...wanted].filter((object) => !objects.has(object)).map((object) => `${object} is missing`),
    ...[...objects].filter((object) => !wanted.has(object)).map((object) => `${object} is left over`),
    ...[...pools.keys()].filter((key) => !wantedPools.has(key)).map((key) => `HSMPool ${key} is left over`),
    ...[...wantedPools].flatMap(([key, each]) =>
      judgePool(pools.get(key), each).map((text) => `HSMPool ${key} ${text}`),
    ),
  ];
}

function poolOf({ key }: ExpectedDevice): string {
  return `${key}-pool`;
}

function objectsOf({ key, state }: ExpectedDevice): readonly string[] {
  if (state === 'gone') return [];
  return [
    `ServiceAccount ${key}-discovery`,
    `ServiceAccount ${key}-agent`,
    `RoleBinding ${key}-discovery`,
    `NetworkPolicy ${key}-agent`,
    `Secret ${key}-agent-tls`,
    ...(state === 'active' ? [`DaemonSet ${key}-discovery`] : []),
  ];
}

function judgePool(pool: HSMPool | undefined, { serials, lost, podName }: ExpectedDevice): readonly string[] {
  if (!pool) return ['is missing'];
  const { aggregatedDevices = [], reportingPods = [], totalDevices } = pool.status ?? {};
  const available = aggregatedDevices.filter((row) => row.available).map(({ id }) => id);
  const others = aggregatedDevices.filter((row) => !row.available).map(({ id }) => id);
  const isFresh = reportingPods.length === 1 && reportingPods.every((row) => row.podName === podName && row.fresh);
  return [
    ...(available.join() === [...serials].sort().join() ? [] : [`has ${available.join()}, not ${serials.join()}`]),
    ...others.filter((id) => !lost.includes(id)).map((id) => `lists ${id}, which its pod never reported`),
    ...(totalDevices === aggregatedDevices.length ? [] : [`counts ${totalDevices} devices`]),
    ...(isFresh ? [] : ['does not list its pod as the only one, and fresh']),
  ];
}
