import { Deployment, keyOf, ReplicaSet } from '@bowline/kubernetes';
import { isAlreadyExists, isNotFound } from '@bowline/runtime/client';
import type { LiveClient } from '@bowline/runtime/controller';
import { ownerReference } from '@bowline/runtime/writing';
import { sameJson } from '../../node-agent/same-json.ts';
import { isControlledBy } from '../pods/pod-state.ts';
import { templateHash } from '../pods/template-hash.ts';
import type { WorkloadEvents } from '../pods/workload-events.ts';
import {
  annotationsFor,
  DESIRED_REPLICAS,
  HASH_LABEL,
  isSameTemplate,
  MAX_REPLICAS,
  REVISION,
  revisionOf,
} from './revisions.ts';
import { newReplicaSetSize, replicasOf, rolloutBounds, type Scaling } from './rolling-update.ts';

/** ReplicaSets writes the ReplicaSets of a Deployment. It skips writes that would change nothing. */
export class ReplicaSets {
  readonly #live: LiveClient;
  readonly #events: WorkloadEvents;
  readonly #deployment: Deployment;

  constructor(live: LiveClient, events: WorkloadEvents, deployment: Deployment) {
    this.#live = live;
    this.#events = events;
    this.#deployment = deployment;
  }

  /** create creates the ReplicaSet of the current template. */
  async create(old: readonly ReplicaSet[]): Promise<ReplicaSet> {
    const deployment = this.#deployment;
    const { metadata, spec, status } = deployment;
    const hash = templateHash(spec?.template, status?.collisionCount);
    const replicas = newReplicaSetSize(deployment, old, 0);
    const { template, selector } = spec ?? {};
    const labels = { ...template?.metadata?.labels, [HASH_LABEL]: hash };
    const set: ReplicaSet = {
      metadata: {
        name: `${metadata?.name ?? ''}-${hash}`,
        namespace: metadata?.namespace,
        labels,
        annotations: { ...annotationsFor(deployment, undefined, old), ...this.#sizes() },
        ownerReferences: [ownerReference({ resource: Deployment, object: deployment })],
      },
      spec: {
        replicas,
        minReadySeconds: spec?.minReadySeconds,
        selector: { ...selector, matchLabels: { ...selector?.matchLabels, [HASH_LABEL]: hash } },
        template: { ...template, metadata: { ...template?.metadata, labels } },
      },
    };
    try {
      const created = await this.#live.create(ReplicaSet, set);
      if (replicas > 0) this.#recordScaling(created, 0, replicas);
      return created;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const found = await this.#live.find(ReplicaSet, keyOf(set));
      if (found && isControlledBy(found, deployment) && isSameTemplate(found.spec?.template, template)) return found;
      // Another template has this name. With one more collision counted, the next attempt uses a different name.
      const body = { status: { collisionCount: (status?.collisionCount ?? 0) + 1 } };
      await this.#live.patch(Deployment, keyOf(deployment), { type: 'merge', body }, { subresource: 'status' });
      throw error;
    }
  }

  /**
   * syncMetadata copies to the newest ReplicaSet what the Deployment holds outside the template: annotations, revision and
   * minReadySeconds.
   */
  async syncMetadata(set: ReplicaSet, old: readonly ReplicaSet[]): Promise<ReplicaSet> {
    const annotations = annotationsFor(this.#deployment, set, old);
    const minReadySeconds = this.#deployment.spec?.minReadySeconds ?? 0;
    const isSame =
      sameJson(annotations, set.metadata?.annotations) && minReadySeconds === (set.spec?.minReadySeconds ?? 0);
    if (isSame) return set;
    return this.#patch(set, { metadata: { annotations }, spec: { minReadySeconds } });
  }

  /** setRevision records on the Deployment the revision of its current template. */
  async setRevision(deployment: Deployment, newest: ReplicaSet): Promise<Deployment> {
    const revision = String(revisionOf(newest));
    if (deployment.metadata?.annotations?.[REVISION] === revision) return deployment;
    const body = { metadata: { annotations: { [REVISION]: revision } } };
    // Written through the status subresource, an annotation does not count as a change of the desired state.
    return this.#live.patch(Deployment, keyOf(deployment), { type: 'merge', body }, { subresource: 'status' });
  }

  /** scale sets the size of a ReplicaSet, and records the Deployment's size at that time. */
  async scale({ set, replicas }: Scaling): Promise<ReplicaSet> {
    const before = replicasOf(set);
    const annotations = this.#sizes();
    const isRecorded = Object.entries(annotations).every(([key, value]) => set.metadata?.annotations?.[key] === value);
    if (before === replicas && isRecorded) return set;
    const scaled = await this.#patch(set, { metadata: { annotations }, spec: { replicas } });
    if (before !== replicas) this.#recordScaling(set, before, replicas);
    return scaled;
  }

  /** delete deletes a ReplicaSet, if its uid still matches. */
  async delete(set: ReplicaSet): Promise<void> {
    const { uid = '' } = set.metadata ?? {};
    await this.#live.delete(ReplicaSet, keyOf(set), { preconditions: { uid } }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }

  #patch(set: ReplicaSet, { metadata, spec }: { metadata: object; spec: object }): Promise<ReplicaSet> {
    const { resourceVersion } = set.metadata ?? {};
    const body = { metadata: { ...metadata, resourceVersion }, spec };
    return this.#live.patch(ReplicaSet, keyOf(set), { type: 'merge', body });
  }

  #sizes(): Readonly<Record<string, string>> {
    const replicas = replicasOf(this.#deployment);
    return {
      [DESIRED_REPLICAS]: String(replicas),
      [MAX_REPLICAS]: String(replicas + rolloutBounds(this.#deployment).maxSurge),
    };
  }

  #recordScaling(set: ReplicaSet, from: number, to: number): void {
    const note = `Scaled ${from < to ? 'up' : 'down'} replica set ${set.metadata?.name ?? ''} from ${from} to ${to}`;
    const event = { type: 'Normal', reason: 'ScalingReplicaSet', note } as const;
    this.#events.record('deployment-controller', Deployment, this.#deployment, event);
  }
}
