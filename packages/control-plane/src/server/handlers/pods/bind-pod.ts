import type { Binding, PodSpec } from '@bowline/kubernetes';
import { describeProblems, type FieldProblem } from '@bowline/machinery';
import type { BodyDecoder } from '../../bodies/decode-body.ts';
import type { ApiResponse } from '../../http/api-request.ts';
import { draftOf } from '../../printing/render.ts';
import type { Draft } from '../../registry/api-resource.ts';
import { setPodCondition } from '../../registry/kinds/core/pod/pod-condition.ts';
import { badRequest, conflict, notFound, StatusError } from '../../status/api-status.ts';
import { keyIn } from '../../storage/stored.ts';
import { type RequestContext, resourceName } from '../context.ts';
import { servePostedKind } from './serve-posted-kind.ts';

const BINDING = { group: '', version: 'v1', kind: 'Binding' };
const BINDINGS = { group: '', resource: 'pods/binding' };

/** How often a binding is retried because another client wrote to the Pod. */
const MAX_ATTEMPTS = 5;

/** bindPod assigns a Pod to a node, as decided by a scheduler. */
export async function bindPod(
  context: RequestContext,
  decoders: ReadonlyMap<string, BodyDecoder>,
): Promise<ApiResponse> {
  return servePostedKind(context, decoders, BINDING, (binding, dryRun) => bind(context, binding, dryRun));
}

function bind(context: RequestContext, binding: Draft, dryRun: boolean): void {
  const { storage, resource, info, clock } = context;
  const { metadata } = binding;
  if (metadata.name !== info.name) throw badRequest('name in URL does not match name in Binding object');
  const { target } = binding as Partial<Binding>;
  const problems = targetProblems(target ?? {});
  // The API server reports this as an internal error.
  if (problems.length > 0) throw new StatusError(500, undefined, describeProblems(problems));
  const key = keyIn(info.namespace, info.name);
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const stored = storage.get(resource.collection, key);
    if (!stored) throw notFound(resourceName(context), info.name);
    const pod = draftOf(stored);
    const why = refusal(pod, metadata);
    if (why !== undefined) throw conflict(BINDINGS, info.name, why);
    pod.spec = { ...(pod.spec as PodSpec), nodeName: target?.name };
    pod.metadata.annotations = merged(pod.metadata.annotations, metadata.annotations);
    pod.metadata.labels = merged(pod.metadata.labels, metadata.labels);
    setPodCondition(pod, clock.now(), { type: 'PodScheduled', status: 'True' });
    if (dryRun || storage.update(resource.collection, key, stored.revision, pod)) return;
  }
  throw conflict(BINDINGS, info.name);
}

/** refusal returns why a Pod cannot be bound. */
function refusal(pod: Draft, { uid }: Draft['metadata']): string | undefined {
  const { name, uid: own, deletionTimestamp } = pod.metadata;
  const { nodeName, schedulingGates = [] } = pod.spec as PodSpec;
  if (uid && uid !== own) {
    return `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${own}`;
  }
  if (deletionTimestamp) return `pod ${name} is being deleted, cannot be assigned to a host`;
  if (nodeName) return `pod ${name} is already assigned to node ${JSON.stringify(nodeName)}`;
  return schedulingGates.length > 0 ? `pod ${name} has non-empty .spec.schedulingGates` : undefined;
}

function targetProblems({
  kind = '',
  name,
}: {
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
}): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (kind !== '' && kind !== 'Node') {
    const message = `Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`;
    problems.push({ field: 'target.kind', reason: 'FieldValueNotSupported', message });
  }
  if (!name) problems.push({ field: 'target.name', reason: 'FieldValueRequired', message: 'Required value' });
  return problems;
}

function merged(own: Readonly<Record<string, string>> | undefined, more: Readonly<Record<string, string>> | undefined) {
  return more ? { ...own, ...more } : own;
}
