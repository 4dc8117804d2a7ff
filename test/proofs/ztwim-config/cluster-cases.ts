import { setImmediate as nextTurn } from 'node:timers/promises';
import { startControlPlane } from '@bowline/control-plane';
import { type Cluster, cluster, type RunningOperators } from '@bowline/control-plane/testing';
import {
  type KubernetesObject,
  MutatingWebhookConfiguration,
  type Resource,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { isSameJson, seededRandom, VirtualClock } from '@bowline/machinery';
import { isInvalid, isNotFound } from '@bowline/runtime/client';
import { createLog } from '@bowline/runtime/manager';
import { SINGLETON } from '../../../operators/ztwim/src/api/names.ts';
import { OPERAND_KINDS } from '../../../operators/ztwim/src/api/operand-kinds.ts';
import { ZeroTrustWorkloadIdentityManager } from '../../../operators/ztwim/src/api/zero-trust-workload-identity-manager.ts';
import { OPERAND_RESOURCES } from '../../../operators/ztwim/src/operand/operand-kind.ts';
import type { SharedObjects } from '../../../operators/ztwim/src/operand/shared-objects.ts';
import { ztwim } from '../../../operators/ztwim/src/operator.ts';
import { describeConfig, holdReason } from './controllers.ts';
import { annotationOf, KINDS, type Kind, PARENT, type Stored, specOf, storedIn } from './five-objects.ts';
import { Model } from './model.ts';
import { type Event, randomCase } from './random-case.ts';
import { OPERATOR } from './subject.ts';

const KEY = { name: SINGLETON };
/** Longer than the pause between two changes of a workload, and than the wait before events are written. */
const PASSING_MS = 2_000;
const MAX_STEPS = 100;
/** How many lines of the operator's log a violation has. */
const LOG_LINES = 10;

const resourceOf = (kind: Kind): Resource<KubernetesObject> =>
  kind === PARENT ? ZeroTrustWorkloadIdentityManager : OPERAND_RESOURCES[kind];

/** withCluster starts the embedded control plane and the operator as it is installed, and ends them after the work. */
export async function withCluster<T>(work: (cases: ClusterCases) => Promise<T>): Promise<T> {
  await using controlPlane = await startControlPlane({
    kind: 'embedded',
    scheduler: false,
    workloads: false,
    nodes: 0,
  });
  const clock = new VirtualClock({ startMs: Date.now() });
  const lines: string[] = [];
  const log = createLog({ destination: { write: (line) => void lines.push(line.trimEnd()) } });
  await using running = await cluster({ controlPlane, operators: [ztwim], clock, log, prefix: 'config' });
  return await work(new ClusterCases(running, lines));
}

/** ClusterCases plays cases on a cluster where the operator runs. */
export class ClusterCases {
  readonly #cluster: Cluster & RunningOperators;
  readonly #log: string[];

  /** The operator's log is part of the problems that a case has. */
  constructor(running: Cluster & RunningOperators, log: string[]) {
    this.#cluster = running;
    this.#log = log;
  }

  /** removeWebhooks removes the webhooks: the following cases are played without admission. */
  async removeWebhooks(): Promise<void> {
    const { admin } = this.#cluster;
    for (const kind of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration] as const) {
      const { items } = await admin.list<KubernetesObject>(kind);
      for (const { metadata } of items) await admin.delete(kind, { name: metadata?.name ?? '' });
    }
  }

  /** play plays the events of a case, and returns where the cluster differs from the model. */
  async play(seed: number, isAdmissionActive: boolean): Promise<readonly string[]> {
    const { events } = randomCase(seededRandom(seed));
    const model = new Model(OPERATOR);
    const admission = { isActive: isAdmissionActive, lag: 0 };
    const problems: string[] = [];
    this.#log.length = 0;
    for (const event of events) {
      // The operator runs whenever it has something to do.
      if (event.type === 'run' || event.type === 'render') continue;
      const same = 'admission' in event ? { ...event, admission } : event;
      const isRefused = predict(model, same);
      const wasRefused = await this.#request(same);
      if (isRefused !== wasRefused) problems.push(`${JSON.stringify(same)} is ${wasRefused ? 'refused' : 'accepted'}`);
      problems.push(...(await this.#differences(model.objects)));
      if (problems.length > 0) break;
    }
    const log = this.#log.slice(-LOG_LINES).join(' ');
    await this.#removeAll();
    return problems.map((problem) => `on the cluster: ${problem}; the operator's log ends with ${log}`);
  }

  /** Events may still be on their way to the operator, so differences count only if they stay. */
  async #differences(predicted: SharedObjects): Promise<readonly string[]> {
    for (let step = 0; ; step++) {
      await this.#settle();
      const found = differences(await this.#read(), predicted);
      if (found.length === 0 || step > MAX_STEPS) return found;
    }
  }

  async #settle(): Promise<void> {
    await nextTurn();
    await this.#cluster.advanceTime(PASSING_MS, PASSING_MS / 2);
  }

  /** Returns whether the request was refused. */
  async #request(event: Event): Promise<boolean> {
    const { admin } = this.#cluster;
    if (!('kind' in event)) return false;
    const resource = resourceOf(event.kind);
    const exists = (await admin.find(resource, KEY)) !== undefined;
    if (event.type === 'create' ? exists : !exists) return false;
    const patch = (body: object) => refused(admin.patch(resource, KEY, { type: 'merge', body }));
    switch (event.type) {
      case 'create': {
        const { kind, content } = event;
        // Values would be moved to ZTWIM.
        const annotations = kind === PARENT ? { 'ztwim.io/migration': 'disabled' } : content.annotations;
        const metadata = { ...KEY, annotations };
        return refused(admin.create(resource, { metadata, spec: specOf(kind, content) } as never));
      }
      case 'change': {
        const { kind, values, other, policy } = event;
        const isBundle = kind === PARENT && values.bundleConfigMap !== undefined;
        return patch({
          spec: {
            ...values,
            ...(isBundle && { bundleConfig: null }),
            ...(other !== undefined && { labels: { team: other } }),
            ...(policy && { identityChangePolicy: policy }),
          },
        });
      }
      case 'annotate':
        return event.kind === PARENT ? false : patch({ metadata: { annotations: event.annotations } });
      case 'delete':
      case 'remove':
        await this.#remove(event.kind);
        return false;
      default:
        return false;
    }
  }

  async #remove(kind: Kind): Promise<void> {
    const { admin } = this.#cluster;
    await admin.delete(resourceOf(kind), KEY).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    const isGone = async (): Promise<boolean> => (await admin.find(resourceOf(kind), KEY)) === undefined;
    for (let step = 0; !(await isGone()); step++) {
      if (step > MAX_STEPS) throw new Error(`${kind} is not deleted`);
      await this.#settle();
    }
  }

  async #removeAll(): Promise<void> {
    for (const kind of KINDS) await this.#remove(kind);
  }

  async #read(): Promise<SharedObjects> {
    const { admin } = this.#cluster;
    const [parent, ...operands] = await Promise.all(KINDS.map((kind) => admin.find(resourceOf(kind), KEY)));
    const [, ...kinds] = KINDS;
    return { parent, operands: Object.fromEntries(kinds.map((kind, at) => [kind, operands[at]])) } as SharedObjects;
  }
}

async function refused(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return false;
  } catch (error) {
    if (!isInvalid(error)) throw error;
    return true;
  }
}

/** predict plays an event and everything that the operator does then, and returns whether it is refused. */
function predict(model: Model, event: Event): boolean {
  let isRefused = false;
  if (event.type === 'delete' || event.type === 'remove') remove(model, event.kind);
  else isRefused = (model.play(event).request?.problems.length ?? 0) > 0;
  model.play({ type: 'run', lag: 0, operands: OPERAND_KINDS.length });
  model.play({ type: 'render' });
  return isRefused;
}

/** Deletion ends: whoever waits for an object sees that it is gone. That of ZTWIM includes its operands. */
function remove(model: Model, deleted: Kind): void {
  if (!storedIn(model.objects, deleted)) return;
  for (const kind of deleted === PARENT ? KINDS : [deleted]) model.play({ type: 'remove', kind });
}

/** differences compares the stored objects, and what the operator reports about them, with the prediction. */
function differences(stored: SharedObjects, predicted: SharedObjects): readonly string[] {
  const wrong: string[] = [];
  for (const kind of KINDS) {
    const [found, expected] = [storedIn(stored, kind), storedIn(predicted, kind)].map(describe);
    if (!isSameJson(found, expected))
      wrong.push(`${kind} is ${JSON.stringify(found)}, predicted: ${JSON.stringify(expected)}`);
  }
  if (wrong.length > 0) return wrong;
  const shared = OPERATOR.resolve(predicted.parent, predicted.operands);
  if (stored.parent) {
    const { effectiveConfig: { sources, ...values } = {}, conflicts = [] } = stored.parent.status ?? {};
    const found = [
      ...Object.entries(values).map(
        ([field, value]) => `${field} is ${String(value)} (${sources?.[field as 'trustDomain']})`,
      ),
      ...conflicts.map(({ field, kind, value, wanted }) => `${field}: ${kind} has ${value}, wanted is ${wanted}`),
    ].sort();
    const expected = describeConfig(shared)
      .filter((line) => !line.endsWith(' missing'))
      .toSorted();
    if (!isSameJson(found, expected))
      wrong.push(`the status has ${found.join(', ')}, predicted: ${expected.join(', ')}`);
  }
  for (const kind of OPERAND_KINDS) {
    const conditions = stored.operands[kind]?.status?.conditions;
    if (!stored.operands[kind]) continue;
    const source = conditions?.find(({ type }) => type === 'ConfigSource');
    const found = source?.status === 'True' ? undefined : (source?.reason ?? 'nothing');
    const expected = holdReason(predicted, kind, OPERATOR);
    if (found !== expected)
      wrong.push(`${kind} reports ${found ?? 'that it acts'}, predicted: ${expected ?? 'that it acts'}`);
  }
  return wrong;
}

/** The part of an object that is predicted. */
function describe(object: Stored | undefined): unknown {
  if (!object) return null;
  const { trustDomain, clusterName, bundleConfigMap, bundleConfig, jwtIssuer } = object.spec as Record<string, unknown>;
  return { trustDomain, clusterName, bundleConfigMap, bundleConfig, jwtIssuer, inherited: annotationOf(object) };
}
