import { type KubernetesObject, keyOf, type ObjectKey, type Resource } from '@bowline/kubernetes';
import { isInvalid } from '@bowline/runtime/client';
import type { ApplyOptions, OwnershipOptions, WriteResult } from '@bowline/runtime/writing';
import { ANNOTATIONS } from '../api/names.ts';
import type { Child } from '../objects/child.ts';
import { MANAGED_BY } from '../objects/labels.ts';
import type { RolloutPace } from '../rollout/rollout-pace.ts';
import type { OperandCondition } from './condition.ts';
import { invalidTemplate } from './invalid-template.ts';
import { isForeign } from './is-foreign.ts';
import { isRefusal } from './is-refusal.ts';
import { refusedContent } from './refused-content.ts';
import { settleAll } from './settle-all.ts';

/** ChildWriter is the part of a run's context that writes objects of any kind. */
export interface ChildWriter {
  apply(resource: Resource, desired: KubernetesObject, options?: ApplyOptions): Promise<WriteResult<KubernetesObject>>;
  createOnce(
    resource: Resource,
    key: ObjectKey,
    make: () => KubernetesObject,
    options?: OwnershipOptions,
  ): Promise<WriteResult<KubernetesObject>>;
  get(resource: Resource, key: ObjectKey): KubernetesObject | undefined;
  isServed(resource: Resource): boolean;
  readonly key: ObjectKey;
  enqueue(key: ObjectKey, options?: { readonly afterMs?: number | undefined }): void;
}

/** ChildrenOptions configures how objects are written. */
export interface ChildrenOptions {
  /** Whether existing objects are not changed. */
  readonly createOnly: boolean;
  readonly rollouts: RolloutPace;
  /** rolledOut is called when the pod template of the workload was changed. */
  readonly rolledOut: () => void;
  /** alongside writes what is not rendered, unless nothing is written, and returns conditions. Defaults to none. */
  readonly alongside?: (() => Promise<readonly OperandCondition[]>) | undefined;
}

/** No event reports that an object of someone else was handed over or deleted: caches hold only our objects. */
const CONFLICT_RETRY_MS = 10_000;

/** No event reports that the API server would accept an object now, for example because a quota was raised. */
const REFUSED_RETRY_MS = 60_000;

/** Objects are ours by their owner or by this label. The label hands an object over that someone else created. */
const owned: ApplyOptions = { labels: MANAGED_BY };

/**
 * A workload has no owner: in a foreground deletion the garbage collector deletes all owned objects at once, and the
 * order in which workloads are deleted would be lost.
 */
const unowned: ApplyOptions = { labels: MANAGED_BY, owner: null };

/** WrittenChildren is the result of writing the objects of an operand. */
export interface WrittenChildren {
  readonly conditions: readonly OperandCondition[];
  /** Whether the API server refused the pod template, so that nothing was written. */
  readonly isRefused: boolean;
  /** When to write again, if the workload was changed a moment ago, so that nothing was written. */
  readonly waitMs?: number | undefined;
}

/**
 * writeChildren writes the objects of an operand, the workload last. The API server validates the pod template first: if it
 * refuses it, nothing is written. The workload is not written if its pods would find the objects of someone else, or old ones.
 */
export async function writeChildren(
  writer: ChildWriter,
  children: readonly Child[],
  options: ChildrenOptions,
): Promise<WrittenChildren> {
  const workload = children.at(-1);
  const isWritten = workload && !options.createOnly && !isFrozen(writer, workload);
  const checked = isWritten ? await checkTemplate(writer, workload) : undefined;
  if (checked?.refused) return { conditions: [checked.refused], isRefused: true };
  const name = workload?.object.metadata?.name ?? '';
  if (checked?.isChanged) {
    const waitMs = options.rollouts.waitMs(name);
    if (waitMs > 0) return { conditions: [], isRefused: false, waitMs };
    options.rollouts.changed(name);
  }
  const [problems, more] = await settleAll([
    writeInOrder(writer, children, options),
    options.alongside?.() ?? Promise.resolve([]),
  ]);
  const retries = problems.flatMap(({ reason }) => RETRIES[reason] ?? []);
  if (retries.length > 0) writer.enqueue(writer.key, { afterMs: Math.min(...retries) });
  const types = new Set(children.map(({ condition }) => condition));
  return {
    conditions: [
      ...more,
      ...[...types].map((type) => problems.find((problem) => problem.type === type) ?? available(type)),
    ],
    isRefused: false,
  };
}

/**
 * These kinds are written after others: a binding is refused while its role does not exist, and while no pod serves the
 * webhooks, the API server would wait for them when it creates our own objects.
 */
const AFTER_OTHERS: ReadonlySet<string> = new Set([
  'RoleBinding',
  'ClusterRoleBinding',
  'ValidatingWebhookConfiguration',
]);

/** The kinds that pods need to start. */
const OF_PODS: ReadonlySet<string> = new Set(['ConfigMap', 'ServiceAccount']);

/** writeInOrder writes objects that do not depend on each other at the same time, the workload last, and returns the problems. */
async function writeInOrder(
  writer: ChildWriter,
  children: readonly Child[],
  options: ChildrenOptions,
): Promise<readonly OperandCondition[]> {
  const others = children.slice(0, -1);
  const isLater = ({ resource }: Child): boolean => AFTER_OTHERS.has(resource.kind);
  const problems: OperandCondition[] = [];
  let canStart = true;
  for (const stage of [others.filter((each) => !isLater(each)), others.filter(isLater), children.slice(-1)]) {
    const isWorkload = stage.length > 0 && stage[0] === children.at(-1);
    if (isWorkload && !canStart) break;
    const ownership = isWorkload ? unowned : owned;
    const found = await settleAll(stage.map((each) => writeChild(writer, each, ownership, options)));
    problems.push(...found.flatMap((problem) => problem ?? []));
    canStart &&= !stage.some(({ resource }, index) => found[index] && OF_PODS.has(resource.kind));
  }
  return problems;
}

const RETRIES: Readonly<Record<string, number>> = { ResourceConflict: CONFLICT_RETRY_MS, Failed: REFUSED_RETRY_MS };

interface CheckedTemplate {
  readonly refused?: OperandCondition;
  readonly isChanged?: boolean;
}

async function checkTemplate(writer: ChildWriter, { resource, object }: Child): Promise<CheckedTemplate> {
  try {
    const { outcome } = await writer.apply(resource, object, { ...unowned, dryRun: true });
    return { isChanged: outcome === 'configured' };
  } catch (error) {
    if (isInvalid(error)) return { refused: invalidTemplate(error) };
    // It is reported when the workload is written.
    if (isForeign(error) || isRefusal(error)) return {};
    throw error;
  }
}

async function writeChild(
  writer: ChildWriter,
  child: Child,
  ownership: ApplyOptions,
  { createOnly, rolledOut }: ChildrenOptions,
): Promise<OperandCondition | undefined> {
  const { resource, object, condition: type } = child;
  if (!writer.isServed(resource)) {
    const message = `the cluster does not serve ${resource.kind} of ${resource.group}; install its definition`;
    return { type, status: false, reason: 'NotServed', message };
  }
  const key = keyOf(object);
  const before = writer.get(resource, key);
  try {
    if (createOnly || isFrozen(writer, child)) {
      await writer.createOnce(resource, key, () => object, ownership);
    } else {
      const { outcome, object: after } = await writer.apply(resource, object, ownership);
      if (outcome === 'configured' && before && templateOf(before) !== templateOf(after)) rolledOut();
    }
    return undefined;
  } catch (error) {
    if (isForeign(error)) return { type, status: false, reason: 'ResourceConflict', message: error.message };
    const refused = refusedContent(resource, key, error);
    if (refused !== undefined) return { type, status: false, reason: 'Failed', message: refused };
    if (isRefusal(error)) return { type, status: false, reason: 'Failed', message: error.message };
    throw error;
  }
}

/** templateOf returns the pod template of a workload as text; undefined for other objects. */
function templateOf(object: KubernetesObject): string | undefined {
  const { spec } = object as { readonly spec?: { readonly template?: unknown } };
  return JSON.stringify(spec?.template);
}

/** Whether the stored object is not to be changed. */
function isFrozen(writer: ChildWriter, { resource, object }: Child): boolean {
  return writer.get(resource, keyOf(object))?.metadata?.annotations?.[ANNOTATIONS.createOnly] === 'true';
}

function available(type: string): OperandCondition {
  return { type, status: true, reason: 'Ready', message: 'the object is available' };
}
