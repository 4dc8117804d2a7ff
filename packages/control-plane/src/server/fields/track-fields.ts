import { apiVersionOf, parseApiVersion } from '@bowline/kubernetes';
import {
  ANY_SHAPE,
  compareFields,
  excludeFields,
  type FieldChange,
  type FieldShape,
  type FieldsV1,
  formatTime,
  isEmptySet,
  isSameJson,
  type JsonObject,
  NO_FIELDS,
  shapeProblems,
  subtractFields,
  uniteFields,
  withoutParts,
} from '@bowline/machinery';
import type { ApiResource, Draft, DraftMeta } from '../registry/api-resource.ts';
import type { Registry } from '../registry/registry.ts';
import { StatusError } from '../status/api-status.ts';
import { applyConflict } from './apply-conflict.ts';
import { applyFields } from './apply-fields.ts';
import { emptyObject, withEmptyParts } from './empty-objects.ts';
import type { FieldTracking, FieldWriter } from './field-tracking.ts';
import { conflictsBesides, keepLastApplied, metadataOf } from './last-applied.ts';
import {
  asksForReset,
  identityOf,
  type Manager,
  type Managers,
  poolOldest,
  sentManagers,
  storedManagers,
  takeFields,
  writtenManagers,
} from './managers.ts';

/** Who owns what was there before anybody applied anything, when nobody kept account. */
const BEFORE_FIRST_APPLY = 'before-first-apply';

/** trackFields keeps account of who owns which field, as the API server does. The registry says which versions there are. */
export function trackFields(registry: Pick<Registry, 'find'>): FieldTracking {
  return {
    created(resource, object, writer) {
      const managers = sentManagers(object.metadata.managedFields ?? []) ?? new Map<string, Manager>();
      settle(managers, resource, registry);
      record(resource, changeOf(resource, undefined, object, writer), managers, writer);
      object.metadata.managedFields = writtenManagers(managers);
    },

    updated(resource, object, old, writer) {
      const { metadata } = object;
      const stored = old.metadata.managedFields;
      // Who owns what is not for a subresource to say.
      const sent = writer.subresource === '' ? metadata.managedFields : undefined;
      metadata.managedFields = stored;
      const changed = sent && !isSameJson(sent, stored) ? changedManagers(sent) : undefined;
      if (!changed && !stored) return;
      const change = changeOf(resource, old, object, writer);
      if (!changed && isNoChange(change)) return;
      const managers = changed ?? storedManagers(stored);
      // Once nobody owns anything, no account is kept until somebody applies.
      if (managers.size > 0) {
        settle(managers, resource, registry);
        record(resource, change, managers, writer);
      }
      metadata.managedFields = writtenManagers(managers);
    },

    apply(resource, old, applied, writer) {
      const shape = resource.shape ?? ANY_SHAPE;
      refuseUntyped(resource, applied, shape);
      const { managedFields: stored, ...metadata } = old?.metadata ?? {};
      const apiVersion = apiVersionOf(resource);
      const live: Draft = { ...old, apiVersion, kind: resource.kind, metadata };
      const managers = storedManagers(stored);
      if (managers.size === 0 && old) {
        const before = { ...writer, manager: BEFORE_FIRST_APPLY };
        record(resource, changeOf(resource, undefined, old, before), managers, before);
      }
      settle(managers, resource, registry);
      const { manager, subresource } = writer;
      const identity = { manager, subresource, operation: 'Apply', apiVersion } as const;
      const time = managers.get(identityOf(identity))?.time;
      const reset = resetFields(resource, subresource);
      const outcome = applyFields({ live, applied, shape, managers, writer: { ...identity, time }, reset });
      const conflicts = conflictsBesides(outcome.conflicts, manager, live, apiVersion, shape);
      if (conflicts.length > 0 && !writer.force) throw applyConflict(conflicts);
      const object = outcome.isChanged ? asDraft(outcome.merged) : live;
      const own = outcome.isChanged ? outcome.managers.get(identityOf(identity)) : undefined;
      if (own) outcome.managers.set(identityOf(identity), { ...own, time: formatTime(writer.now) });
      object.metadata.managedFields = writtenManagers(outcome.managers);
      keepLastApplied(object, applied, manager);
      return object;
    },
  };
}

/** changedManagers are those that a client wants; undefined when what it sent cannot be meant. */
function changedManagers(sent: NonNullable<DraftMeta['managedFields']>): Managers | undefined {
  const managers = asksForReset(sent) ? new Map<string, Manager>() : sentManagers(sent);
  return managers && (managers.size > 0 || asksForReset(sent)) ? managers : undefined;
}

/** settle forgets managers of versions that are gone, and brings sets up to date with a schema that changed. */
function settle(managers: Managers, resource: ApiResource, registry: Pick<Registry, 'find'>): void {
  const shape = resource.shape ?? ANY_SHAPE;
  const own = apiVersionOf(resource);
  takeFields(managers, ({ apiVersion, fields }) =>
    apiVersion === own || isServed(apiVersion, resource, registry) ? withoutParts(fields, shape) : NO_FIELDS,
  );
}

function isServed(apiVersion: string, resource: ApiResource, registry: Pick<Registry, 'find'>): boolean {
  const { group, version } = parseApiVersion(apiVersion);
  // Versions of custom resources are the same but for their names, also those that are served no longer.
  if (resource.schema === undefined && group === resource.group) return true;
  return registry.find(group, version, resource.resource)?.collection === resource.collection;
}

/** changeOf is what a write changes of what can be owned by it; `old` is undefined when it creates. */
function changeOf(resource: ApiResource, old: Draft | undefined, object: Draft, writer: FieldWriter): FieldChange {
  const empty = emptyObject(resource);
  const from = withEmptyParts(old ? ownable(old) : { metadata: {} }, empty);
  const { written, removed } = compareFields(from, withEmptyParts(ownable(object), empty), resource.shape ?? ANY_SHAPE);
  const reset = resetFields(resource, writer.subresource);
  return { written: excludeFields(written, reset), removed: excludeFields(removed, reset) };
}

function isNoChange({ written, removed }: FieldChange): boolean {
  return isEmptySet(written) && isEmptySet(removed);
}

/** ownable is what of an object can be owned: not what the server alone decides. */
function ownable(object: Draft): JsonObject {
  const { generateName, labels, annotations, finalizers, ownerReferences } = object.metadata;
  const metadata = {
    generateName: generateName || undefined,
    labels: notEmpty(labels),
    annotations: notEmpty(annotations),
    finalizers: notEmpty(finalizers),
    ownerReferences: notEmpty(ownerReferences),
  };
  return { ...object, apiVersion: undefined, kind: undefined, metadata };
}

/** Metadata of any kind holds nothing that is empty. */
function notEmpty<T extends object>(value: T | undefined): T | undefined {
  for (const _ in value) return value;
  return undefined;
}

/** record gives to the writer what it wrote, and takes from everybody what it wrote or removed. */
function record(resource: ApiResource, change: FieldChange, managers: Managers, writer: FieldWriter): void {
  const { written, removed } = change;
  if (isNoChange(change)) return;
  takeFields(managers, ({ fields }) => subtractFields(subtractFields(fields, written), removed));
  if (isEmptySet(written)) return;
  const { manager, subresource, now } = writer;
  const entry = { manager, subresource, operation: 'Update', apiVersion: apiVersionOf(resource) } as const;
  const fields = uniteFields(managers.get(identityOf(entry))?.fields ?? NO_FIELDS, written);
  // The API server loses the time of what is written through another kind.
  managers.set(identityOf(entry), { ...entry, fields, time: subresource === 'scale' ? undefined : formatTime(now) });
  poolOldest(managers);
}

/** refuseUntyped throws what the API server answers to an object that it cannot apply. */
function refuseUntyped({ group, version, kind }: ApiResource, applied: JsonObject, shape: FieldShape): void {
  const problems = shapeProblems(applied, shape);
  if (problems.length === 0) return;
  const { namespace, name }: { namespace?: unknown; name?: unknown } = metadataOf(applied);
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const what = `${text(namespace)}/${text(name)}; ${group}/${version}, Kind=${kind}`;
  const why = problems.length === 1 ? problems[0] : ['errors:', ...problems.map((each) => `  ${each}`)].join('\n');
  throw new StatusError(500, undefined, `failed to create typed patch object (${what}): ${why}`);
}

/** An apply may leave nothing of the metadata. */
function asDraft(object: JsonObject): Draft {
  return { ...object, metadata: { ...metadataOf(object) } };
}

const STATUS: FieldsV1 = { 'f:status': NO_FIELDS };
const SPEC: FieldsV1 = { 'f:spec': NO_FIELDS };

/** What else a write of the status does not change, by kind. */
const KEPT_BY_STATUS: Readonly<Record<string, FieldsV1>> = {
  'Deployment.apps': { ...SPEC, 'f:metadata': { 'f:labels': NO_FIELDS } },
  'Pod.': { ...SPEC, 'f:metadata': { 'f:deletionTimestamp': NO_FIELDS, 'f:ownerReferences': NO_FIELDS } },
};

/** resetFields are those that a write to a path cannot change, whatever it says of them: nobody comes to own them by it. */
function resetFields({ group, kind, subresources }: ApiResource, subresource: string): FieldsV1 {
  if (subresource === 'status') return KEPT_BY_STATUS[`${kind}.${group}`] ?? SPEC;
  return subresources.has('status') ? STATUS : NO_FIELDS;
}
