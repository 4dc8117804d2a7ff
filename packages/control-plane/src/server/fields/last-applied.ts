import {
  appliedSet,
  canonicalJson,
  compareFields,
  type FieldShape,
  isEmptySet,
  type JsonObject,
  JsonSyntaxError,
  parseJson,
  shapeProblems,
  subtractFields,
} from '@bowline/machinery';
import { areTooLarge } from '../objects/object-meta.ts';
import type { Draft, DraftMeta } from '../registry/api-resource.ts';
import type { Conflict } from './apply-fields.ts';

/** The annotation in which `kubectl apply` without `--server-side` stores what it applied. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Only this manager takes over from client-side apply; a client that does not want this uses another name. */
const KUBECTL = 'kubectl';

/**
 * remainingConflicts returns the conflicts that remain when kubectl takes over the fields that it set by client-side
 * apply, as far as they have not changed since.
 */
export function remainingConflicts(
  conflicts: readonly Conflict[],
  manager: string,
  live: Draft,
  apiVersion: string,
  shape: FieldShape,
): readonly Conflict[] {
  if (conflicts.length === 0 || manager !== KUBECTL) return conflicts;
  const last = readLastApplied(live.metadata.annotations?.[LAST_APPLIED]);
  if (last?.apiVersion !== apiVersion || shapeProblems(last, shape).length > 0) return conflicts;
  const { written, removed } = compareFields(last, live, shape);
  const own = subtractFields(subtractFields(appliedSet(last, shape), written), removed);
  return conflicts
    .map(({ owner, fields }) => ({ owner, fields: subtractFields(fields, own) }))
    .filter(({ fields }) => !isEmptySet(fields));
}

function readLastApplied(text: string | undefined): JsonObject | undefined {
  if (!text) return undefined;
  try {
    const { value } = parseJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/**
 * keepLastApplied updates the annotation of client-side apply with what kubectl applies, if the object has the
 * annotation.
 */
export function keepLastApplied(object: Draft, applied: JsonObject, manager: string): void {
  const { annotations } = object.metadata;
  if (manager !== KUBECTL || !annotations?.[LAST_APPLIED]) return;
  const metadata = metadataOf(applied);
  const own = metadata.annotations;
  const rest = own && without(own, LAST_APPLIED);
  const text = `${canonicalJson({ ...applied, metadata: { ...metadata, annotations: rest } })}\n`;
  const kept = { ...annotations, [LAST_APPLIED]: text };
  // A value that cannot be stored completely is not stored.
  object.metadata.annotations = areTooLarge(kept) ? without(annotations, LAST_APPLIED) : kept;
}

function without(annotations: Readonly<Record<string, string>>, name: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).filter(([each]) => each !== name));
}

/** metadataOf returns the metadata of an object that has the shape of its kind but may lack metadata. */
export function metadataOf(object: JsonObject): DraftMeta {
  return object.metadata ?? {};
}
