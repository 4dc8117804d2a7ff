import { type Read, s } from '@bowline/runtime/resource';

/** gatewayPlan is the schema of what the controller decided about one gateway. */
export const gatewayPlan = s.object({
  /** The name of the gateway. */
  name: s.string().minLength(1).maxLength(512),
  /** The key under which its agent reports. */
  key: s.string().minLength(1).maxLength(253),
  /** The commit that the gateway may sync, and its ref. Absent: the gateway keeps what it has. */
  commit: s.string().minLength(40).maxLength(64).optional(),
  ref: s.string().maxLength(255).optional(),
  /**
   * The desired state, as `desiredHash` returns it, that the gateway may sync. Absent: any. While it is another one, because
   * commit, settings or profile changed, the gateway waits: it keeps what it has, and places `commit` only if it has
   * nothing.
   */
  released: s.string().maxLength(64).optional(),
  /** Why the gateway has to wait, for its status. Absent: it does not wait. */
  waitingFor: s.string().maxLength(512).optional(),
  /** The SyncProfile that its pod names. */
  profile: s.string().maxLength(253).optional(),
  /** The stage of a canary rollout. */
  stage: s.string().maxLength(63).optional(),
  /** Requested by the agent after the sync. */
  healthCheckUrl: s.string().maxLength(2048).optional(),
  /** When the controller saw that all of a stage's gateways have the commit, on each of them. */
  stageSyncedAt: s.string().maxLength(40).optional(),
  /** Since when the peer of a redundant gateway is not running. */
  peerMissingSince: s.string().maxLength(40).optional(),
  /** Paths that are not synced until a conflict is resolved. */
  held: s.array(s.string().maxLength(4096)).maxItems(1024).optional(),
});

/** GatewayPlan is what the controller decided about one gateway. */
export type GatewayPlan = Read<typeof gatewayPlan>;

/** rolloutPlan is the schema of the plans of all gateways, by the name of their pod. */
export const rolloutPlan = s.map(gatewayPlan).maxProperties(1024);

/** RolloutPlan holds the plans of all gateways, by the name of their pod. */
export type RolloutPlan = Readonly<Record<string, GatewayPlan>>;
