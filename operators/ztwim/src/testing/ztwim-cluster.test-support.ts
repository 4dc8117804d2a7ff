import {
  type Cluster,
  type ClusterOptions,
  cluster,
  type OperatorsOptions,
  type RunningOperators,
} from '@bowline/control-plane/testing';
import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import type { Operator } from '@bowline/runtime';
import { expect } from 'vitest';
import { SINGLETON } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { ztwim } from '../operator.ts';
import { PassingTime } from './passing-time.test-support.ts';

/** ZtwimClusterOptions configures the operator. */
export interface ZtwimClusterOptions
  extends Partial<Omit<OperatorsOptions & ClusterOptions, 'config' | 'clock' | 'operators'>> {
  /** The operator's section of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Further operators. Defaults to none. */
  readonly others?: readonly Operator[];
}

/** Specs are the specs of the five objects. */
export interface Specs {
  readonly parent?: Readonly<Record<string, unknown>> | undefined;
  readonly server?: Readonly<Record<string, unknown>> | undefined;
  readonly agent?: Readonly<Record<string, unknown>> | undefined;
  readonly csi?: Readonly<Record<string, unknown>> | undefined;
  readonly oidc?: Readonly<Record<string, unknown>> | undefined;
}

/** COMPLETE is a spec of the ZeroTrustWorkloadIdentityManager with every shared value. */
export const COMPLETE = {
  trustDomain: 'example.io',
  clusterName: 'prod',
  jwtIssuer: 'https://oidc.example.io',
} as const;

/** OPERANDS is the namespace of the operands in tests. */
export const OPERANDS = 'zero-trust-workload-identity-manager';

/** ZtwimCluster is a test cluster with the operator as it is installed: with its own ServiceAccount. */
export interface ZtwimCluster extends Cluster, RunningOperators {
  /**
   * The clock of the operator. It starts at the real time, and stands still unless a test advances it or waits for more
   * than a second.
   */
  readonly clock: VirtualClock;
  /** createAll creates the five objects. Those without a spec get an empty one. */
  createAll(specs?: Specs): Promise<void>;
  /** createOne creates one of the five objects. */
  createOne<T extends KubernetesObject>(kind: Resource<T>, spec?: object): Promise<T>;
  /**
   * during waits for the end of some work that waits for the operator, and lets the operator's time pass meanwhile: a run
   * that failed is repeated only then.
   */
  during<T>(work: Promise<T>): Promise<T>;
  /** changeSpec patches the spec of one of the five objects. */
  changeSpec(kind: Resource<KubernetesObject>, spec: object): Promise<void>;
  /** untilRemoved waits until one of the five objects is gone. Meanwhile the operator's time passes too. */
  untilRemoved(kind: Resource<KubernetesObject>): Promise<void>;
  /** untilReason waits for a reason of a condition of one of the five objects, and returns its message. */
  untilReason(kind: Resource<KubernetesObject>, type: string, reason: string): Promise<string>;
}

interface WithConditions extends KubernetesObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
  };
}

/** How much time passes between two looks at an object. */
const PASSING_MS = 100;

/** ztwimCluster starts the operator on a control plane of its own. */
export async function ztwimCluster(options: ZtwimClusterOptions = {}): Promise<ZtwimCluster> {
  const { config = {}, others = [], ...rig } = options;
  const clock = new VirtualClock({ startMs: Date.now() });
  const operators = [ztwim, ...others];
  const c = await cluster({ operators, prefix: 'ztwim', ...rig, clock, config: { ztwim: config } });
  const time = new PassingTime(clock);
  const waits: Pick<Cluster, 'until' | 'untilGone' | 'untilList'> = {
    until: (...args) => time.during(c.until(...args)),
    untilGone: (...args) => time.during(c.untilGone(...args)),
    untilList: (...args) => time.during(c.untilList(...args)),
  };
  const own: Omit<ZtwimCluster, keyof (Cluster & RunningOperators)> = {
    clock,
    createOne: (kind, spec = {}) => c.admin.create(kind, { metadata: { name: SINGLETON }, spec } as never),
    async createAll({ parent = COMPLETE, server, agent, csi, oidc } = {}) {
      await own.createOne(ZeroTrustWorkloadIdentityManager, parent);
      await own.createOne(SpireServer, server);
      await own.createOne(SpireAgent, agent);
      await own.createOne(SpiffeCSIDriver, csi);
      await own.createOne(SpireOIDCDiscoveryProvider, oidc);
    },
    during: (work) => time.during(work),
    async changeSpec(kind, spec) {
      await c.admin.patch(kind, { name: SINGLETON }, { type: 'merge', body: { spec } });
    },
    async untilRemoved(kind) {
      await expect
        .poll(
          async () => {
            await clock.advance(PASSING_MS);
            return c.admin.find(kind, { name: SINGLETON });
          },
          { timeout: 60_000, interval: PASSING_MS },
        )
        .toBeUndefined();
    },
    async untilReason(kind, type, reason) {
      const find = ({ status }: WithConditions) =>
        status?.conditions?.find((each) => each.type === type && each.reason === reason);
      const object = await waits.until(kind, { name: SINGLETON }, (each: WithConditions) => find(each) !== undefined);
      return find(object)?.message ?? '';
    },
  };
  return Object.defineProperties(
    { ...c, ...own },
    { ...Object.getOwnPropertyDescriptors(c), ...Object.getOwnPropertyDescriptors(waits) },
  );
}
