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

/** ChildWriter is the part of a run's context that writes objects of any kind. */
export interface ChildWriter {
  apply(resource: Resource, desired: KubernetesObject, options?: ApplyOptions): Promise<WriteResult<unknown>>;
  createOnce(
    resource: Resource,
    key: ObjectKey,
    make: () => KubernetesObject,
    options?: OwnershipOptions,
  ): Promise<WriteResult<unknown>>;
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
}

/** No event reports that an object of someone else was handed over or deleted: caches hold only our objects. */
const CONFLICT_RETRY_MS = 10_000;

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
 * writeChildren writes the objects of an operand in order, the workload last. The API server validates the pod template
 * first: if it refuses it, nothing is written.
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
  const problems: OperandCondition[] = [];
  for (const each of children) {
    const problem = await writeChild(writer, each, each === workload ? unowned : owned, options);
    if (problem) problems.push(problem);
  }
  if (problems.some(({ reason }) => reason === 'ResourceConflict')) {
    writer.enqueue(writer.key, { afterMs: CONFLICT_RETRY_MS });
  }
  const types = new Set(children.map(({ condition }) => condition));
  return {
    conditions: [...types].map((type) => problems.find((problem) => problem.type === type) ?? available(type)),
    isRefused: false,
  };
}

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
    if (isForeign(error)) return {};
    throw error;
  }
}

async function writeChild(
  writer: ChildWriter,
  child: Child,
  ownership: ApplyOptions,
  { createOnly }: ChildrenOptions,
): Promise<OperandCondition | undefined> {
  const { resource, object, condition } = child;
  if (!writer.isServed(resource)) {
    const message = `the cluster does not serve ${resource.kind} of ${resource.group}; install its definition`;
    return { type: condition, status: false, reason: 'NotServed', message };
  }
  const key = keyOf(object);
  try {
    if (createOnly || isFrozen(writer, child)) await writer.createOnce(resource, key, () => object, ownership);
    else await writer.apply(resource, object, ownership);
    return undefined;
  } catch (error) {
    if (!isForeign(error)) throw error;
    return { type: condition, status: false, reason: 'ResourceConflict', message: error.message };
  }
}

/** Whether the stored object is not to be changed. */
function isFrozen(writer: ChildWriter, { resource, object }: Child): boolean {
  return writer.get(resource, keyOf(object))?.metadata?.annotations?.[ANNOTATIONS.createOnly] === 'true';
}

function available(type: string): OperandCondition {
  return { type, status: true, reason: 'Ready', message: 'the object is available' };
}
