import { type Schema, schemaFor } from '@bowline/kubernetes/schemas';
import {
  applyJsonPatch,
  applyMergePatch,
  builtInShape,
  customShape,
  type FieldShape,
  isSameJson,
  type JsonObject,
} from '@bowline/machinery';
import type { ApiResource, Draft, DraftMeta } from '../registry/api-resource.ts';
import { Registry } from '../registry/registry.ts';
import { type StatusCause, type StatusDetails, StatusError } from '../status/api-status.ts';
import { keepTimes } from './keep-times.ts';
import { FREE, type SequenceKind, type Step, WIDGET } from './sequence.test-support.ts';
import { trackFields } from './track-fields.ts';

/** GROUP, NAMESPACE and NAME are the names in the sequences; a control plane uses other names. */
export const GROUP = 'fields.test';
export const NAMESPACE = 'tracked-namespace';
export const NAME = 'tracked-object';

/** KINDS holds the kinds of the sequences. */
export const KINDS: Readonly<Record<SequenceKind, { apiVersion: string; kind: string; resource: string }>> = {
  ConfigMap: { apiVersion: 'v1', kind: 'ConfigMap', resource: 'configmaps' },
  PodTemplate: { apiVersion: 'v1', kind: 'PodTemplate', resource: 'podtemplates' },
  Service: { apiVersion: 'v1', kind: 'Service', resource: 'services' },
  Role: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', resource: 'roles' },
  Widget: { apiVersion: `${GROUP}/v1`, kind: 'Widget', resource: 'widgets' },
  Free: { apiVersion: `${GROUP}/v1`, kind: 'Free', resource: 'frees' },
  FreeV2: { apiVersion: `${GROUP}/v2`, kind: 'Free', resource: 'frees' },
};

/** StepOutcome is the result of a step: an error, or an object. */
export interface StepOutcome {
  readonly status: number;
  readonly error?: Refusal;
  /** The object after the step; absent if the step did not change it. */
  readonly after?: JsonObject | undefined;
}

/** Refusal is the error of a refused step. */
export interface Refusal {
  readonly message: string;
  readonly reason?: string | undefined;
  readonly details?: StatusDetails | undefined;
}

/** refusalOf returns an error with sorted causes: their order on the real server varies. */
export function refusalOf({ message, reason, details }: Refusal): Refusal {
  const inOrder = (cause: StatusCause): string => `${cause.message} ${cause.field}`;
  const causes = details?.causes?.toSorted((a, b) => (inOrder(a) < inOrder(b) ? -1 : 1));
  return { message, reason, details: details && { ...details, causes } };
}

/** bodyOf returns the body that a step sends. */
export function bodyOf(kind: SequenceKind, step: Step, before: JsonObject | undefined): unknown {
  const { apiVersion, kind: name } = KINDS[step.of ?? kind];
  const typed = (object: JsonObject): JsonObject => {
    const metadata = (object.metadata ?? {}) as JsonObject;
    return { apiVersion, kind: name, ...object, metadata: { name: NAME, ...metadata } };
  };
  if ('create' in step) return typed(step.create as JsonObject);
  if ('apply' in step) return step.bare ? step.apply : typed(step.apply as JsonObject);
  if ('put' in step) return applyMergePatch(before, step.put);
  return 'merge' in step ? step.merge : step.json;
}

const registry = new Registry();
registry.set(
  builtIn('ConfigMap'),
  builtIn('PodTemplate'),
  builtIn('Service', 'status'),
  builtIn('Role'),
  resourceLike('Widget', customShape(WIDGET), undefined, 'status', 'scale'),
  resourceLike('Free', customShape(FREE), undefined),
  resourceLike('FreeV2', customShape(FREE), undefined),
);
const tracking = trackFields(registry);

function builtIn(of: SequenceKind, ...parts: string[]): ApiResource {
  const { apiVersion, kind } = KINDS[of];
  return resourceLike(of, builtInShape(apiVersion, kind), schemaFor(apiVersion, kind), ...parts);
}

/** resourceLike returns a resource with everything that field tracking reads. */
function resourceLike(
  of: SequenceKind,
  shape: FieldShape | undefined,
  schema: Schema | undefined,
  ...parts: string[]
): ApiResource {
  const { apiVersion, kind, resource } = KINDS[of];
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return {
    group,
    version,
    resource,
    singular: kind.toLowerCase(),
    kind,
    listKind: `${kind}List`,
    scope: 'Namespaced',
    shortNames: [],
    categories: [],
    verbs: [],
    subresources: new Map(parts.map((name) => [name, { name, verbs: [] }])),
    collection: `${resource}.${group}`,
    listsTypedItems: true,
    strategy: { decode: (value) => ({ object: value as Draft, unknown: [] }), validate: () => [] },
    nameRule: 'subdomain',
    needsVersion: true,
    shape,
    schema,
    selectableFields: new Map(),
  };
}

/** Replayed is the result of our field tracking for a step that a control plane executed. */
export interface Replayed {
  readonly error?: StatusError;
  readonly managedFields?: DraftMeta['managedFields'];
  /** For an apply: the merged object, before defaults. */
  readonly merged?: JsonObject;
}

/**
 * replay runs field tracking on a step whose outcome is known. The effects of decoding, defaulting and other parts of a
 * server are taken from that outcome; our code determines the ownership, and the result of an apply.
 */
export function replay(
  kind: SequenceKind,
  step: Step,
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  now: number,
): Replayed {
  const resource = resourceOf(step.of ?? kind);
  const old = before && (structuredClone(before) as Draft);
  const writer = { manager: step.as, subresource: step.on ?? '', now };
  if ('apply' in step) {
    try {
      const applied = bodyOf(kind, step, before) as JsonObject;
      const merged = tracking.apply(resource, old, applied, { ...writer, force: step.force ?? false });
      const { metadata } = merged;
      const stored = { ...merged, ...after, metadata: { ...metadata, ...(after?.metadata as DraftMeta | undefined) } };
      stored.metadata.managedFields = metadata.managedFields;
      if (old) keepTimes(stored, old);
      return { merged, managedFields: stored.metadata.managedFields };
    } catch (error) {
      if (error instanceof StatusError) return { error };
      throw error;
    }
  }
  const object = sentObject(kind, step, before, after ?? before);
  if (old) tracking.updated(resource, object, old, writer);
  else tracking.created(resource, object, writer);
  if (old) keepTimes(object, old);
  return { managedFields: object.metadata.managedFields };
}

function resourceOf(kind: SequenceKind): ApiResource {
  const { apiVersion, resource } = KINDS[kind];
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const found = registry.find(group, version, resource);
  if (!found) throw new TypeError(`${kind} is not served`);
  return found;
}

/** Fields of a Service that the server sets after the ownership is recorded. */
const SET_BY_SERVER = { clusterIP: undefined, clusterIPs: undefined, ipFamilies: undefined, ipFamilyPolicy: undefined };

/**
 * sentObject returns the object that a client's write results in: the outcome, with the managedFields that the client
 * sent.
 */
function sentObject(
  kind: SequenceKind,
  step: Step,
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): Draft {
  const body = bodyOf(kind, step, before);
  const patched = (
    'merge' in step ? applyMergePatch(before, step.merge) : 'json' in step ? applyJsonPatch(before, step.json) : body
  ) as Draft;
  const { managedFields } = patched.metadata;
  // Tracking receives what was sent to a subresource before the other fields are dropped.
  if (step.on === 'status') return structuredClone(patched);
  const object = structuredClone(after) as Draft;
  if (!before && kind === 'Service') object.spec = { ...(object.spec as JsonObject), ...SET_BY_SERVER };
  object.metadata.managedFields = managedFields && (JSON.parse(JSON.stringify(managedFields)) as typeof managedFields);
  return object;
}

/** written returns the part of an object that a write to it, or to a subresource, can change. */
export function written(object: JsonObject, kind: SequenceKind, part: string | undefined): JsonObject {
  const { apiVersion: _, kind: __, metadata: ___, status, ...rest } = object;
  if (part === 'status') return { status };
  return resourceOf(kind).subresources.has('status') ? rest : { ...rest, status };
}

/**
 * isPartOf reports whether everything in a value is in another one, which may have more; empty values count as absent.
 */
export function isPartOf(part: unknown, whole: unknown): boolean {
  if (part === null || part === undefined) return true;
  if (Array.isArray(part)) {
    if (part.length === 0) return true;
    return (
      Array.isArray(whole) && part.length === whole.length && part.every((item, index) => isPartOf(item, whole[index]))
    );
  }
  if (typeof part !== 'object') return isSameJson(part, whole) || (whole === undefined && part === false);
  const other = (typeof whole === 'object' && whole !== null ? whole : {}) as JsonObject;
  return Object.entries(part).every(([name, value]) => isPartOf(value, other[name]));
}
