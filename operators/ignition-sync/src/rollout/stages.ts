import { parseDuration } from '@bowline/machinery';
import { REST_STAGE } from '../api/experimental-spec.ts';
import type { IgnitionSyncSpec } from '../api/ignition-sync.ts';
import type { Gateway } from '../discovery/discover-gateways.ts';

/** DeploymentStage is a stage of the spec. */
type DeploymentStage = NonNullable<NonNullable<IgnitionSyncSpec['deployment']>['stages']>[number];

/** Stage is a group of gateways that are synced after those of earlier stages. */
export interface Stage<G> {
  /** Undefined: there are no stages, and all gateways are in this one. */
  readonly name: string | undefined;
  readonly members: readonly G[];
  readonly postSyncWaitMs: number;
  readonly healthCheckUrl: string | undefined;
  readonly requireApproval: boolean;
  /**
   * Whether the stage is not done without a running gateway. A canary that is down must not let a commit pass to the
   * gateways after it.
   */
  readonly needsGateway: boolean;
}

/** assignStages returns the stages in order. A gateway is in the first stage that names or selects it, or else in `rest`. */
export function assignStages<G extends Pick<Gateway, 'name' | 'pod'>>(
  gateways: readonly G[],
  deployment: IgnitionSyncSpec['deployment'],
): Stage<G>[] {
  if (deployment?.strategy !== 'canary') return [lastStage(undefined, gateways)];
  const left = new Set(gateways);
  const stages = (deployment.stages ?? []).map((stage) => {
    const members = [...left].filter((gateway) => isIn(stage, gateway));
    for (const member of members) left.delete(member);
    const { name, healthCheckUrl, requireApproval } = stage;
    const postSyncWaitMs = parseDuration(stage.postSyncWait);
    return { name, members, postSyncWaitMs, healthCheckUrl, requireApproval, needsGateway: true };
  });
  return [...stages, lastStage(REST_STAGE, [...left])];
}

function lastStage<G>(name: string | undefined, members: readonly G[]): Stage<G> {
  const none = { postSyncWaitMs: 0, healthCheckUrl: undefined, requireApproval: false, needsGateway: false };
  return { name, members, ...none };
}

function isIn({ gateways, gatewaySelector }: DeploymentStage, { name, pod }: Pick<Gateway, 'name' | 'pod'>): boolean {
  if (gateways?.includes(name)) return true;
  const labels = Object.entries(gatewaySelector ?? {});
  // An empty selector would select every gateway; it is more likely a mistake.
  return labels.length > 0 && labels.every(([label, value]) => pod.labels[label] === value);
}
