import { type Discovery, discoverGateways } from '../discovery/discover-gateways.ts';
import type { GatewayPod } from '../discovery/gateway-pod.ts';
import { injectedPod, type PodChanges } from '../discovery/gateways.test-support.ts';
import { desiredHash } from '../protocol/desired-hash.ts';
import type { GatewayReport } from '../protocol/gateway-report.ts';
import { metadataOf, specOf } from '../protocol/metadata.test-support.ts';
import type { SyncMetadata } from '../protocol/metadata.ts';
import type { RolloutPlan } from '../protocol/rollout-plan.ts';
import { planRollout } from './plan-rollout.ts';
import type { Approval, RefCommit, Rollout } from './rollout.ts';

/** Fleet is the gateways of an IgnitionSync with agents that do what the plan allows, when a test lets them. */
export class Fleet {
  now: number = Date.parse('2026-01-01T00:00:00Z');
  metadata: SyncMetadata;
  pods = new Map<string, GatewayPod>();
  reports = new Map<string, GatewayReport>();
  previous: RolloutPlan = {};
  approval: Approval | undefined;
  lastSynced: RefCommit | undefined;
  overrides = new Map<string, string>();
  readonly #spec: ReturnType<typeof specOf>;

  constructor(names: readonly string[], spec: object = {}, metadata: Partial<SyncMetadata> = {}) {
    this.metadata = metadataOf(spec, metadata);
    this.#spec = specOf(spec);
    for (const name of names) this.add(name);
  }

  /** add adds a gateway whose name is that of its pod. */
  add(name: string, changes: PodChanges = {}): void {
    this.pods.set(name, injectedPod(name, changes));
  }

  /** plan is a run of the controller: it stores the plan. */
  plan(): Rollout {
    const { deployment, ignition } = this.#spec;
    const rollout = planRollout({
      now: this.now,
      metadata: this.metadata,
      discovery: this.discovery(),
      reports: this.reports,
      deployment,
      ignition,
      overrides: this.overrides,
      approval: this.approval,
      previous: this.previous,
      lastSynced: this.lastSynced,
    });
    this.previous = rollout.plan;
    return rollout;
  }

  discovery(): Discovery {
    return discoverGateways([...this.pods.values()], { name: 'plant', onlyOne: true });
  }

  /** push changes the commit to roll out. */
  push(commit: string): void {
    this.metadata = { ...this.metadata, commit };
  }

  /** hashOf returns the state that the agent of a gateway may sync. */
  hashOf(name: string): string | undefined {
    return desiredHash({ ...this.metadata, plan: this.previous }, name);
  }

  /** due returns the gateways whose agents have something to sync. */
  due(): string[] {
    const isDue = (name: string): boolean => {
      const hash = this.hashOf(name);
      return hash !== undefined && this.reports.get(name)?.appliedHash !== hash;
    };
    return [...this.pods.keys()].filter(isDue).sort();
  }

  /** report stores the report of an agent about the state that it may sync. */
  report(name: string, report: Partial<GatewayReport> = {}): void {
    const { commit, ref, healthCheckUrl } = this.previous[name] ?? {};
    const isSynced = (report.syncStatus ?? 'Synced') === 'Synced';
    const before = this.reports.get(name);
    this.reports.set(name, {
      syncStatus: 'Synced',
      appliedHash: this.hashOf(name),
      syncedCommit: isSynced ? commit : before?.syncedCommit,
      syncedRef: isSynced ? ref : before?.syncedRef,
      stageHealth: isSynced && healthCheckUrl !== undefined ? 'Healthy' : undefined,
      ...report,
    });
  }

  /** settle plans and syncs until no agent has anything to do, and returns the order in which gateways were synced. */
  settle(): string[] {
    const order: string[] = [];
    for (;;) {
      this.plan();
      const due = this.due();
      if (due.length === 0) return order;
      order.push(due.join('+'));
      for (const name of due) this.report(name);
    }
  }

  /** commits returns the commits that gateways have, by name. */
  commits(): Record<string, string | undefined> {
    return Object.fromEntries([...this.pods.keys()].map((name) => [name, this.reports.get(name)?.syncedCommit?.[0]]));
  }

  /** waits returns why gateways wait, by name. */
  waits(): Record<string, string> {
    return Object.fromEntries(
      Object.entries(this.previous).flatMap(([name, { waitingFor }]) => (waitingFor ? [[name, waitingFor]] : [])),
    );
  }
}
