import { apiVersionOf, parseApiVersion } from '@bowline/kubernetes';
import {
  ANY_SHAPE,
  collapseAtomicFields,
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
} from '@bowline/machinery';
import type { ApiResource, Draft, DraftMeta } from '../registry/api-resource.ts';
import type { Registry } from '../registry/registry.ts';
import { StatusError } from '../status/api-status.ts';
import { applyConflict } from './apply-conflict.ts';
import { applyFields } from './apply-fields.ts';
import { emptyObject, withEmptyParts } from './empty-objects.ts';
import type { FieldTracking, FieldWriter } from './field-tracking.ts';
import { keepLastApplied, metadataOf, remainingConflicts } from './last-applied.ts';
import {
  identityOf,
  type Manager,
  type Managers,
  poolOldest,
  removeFields,
  requestsReset,
  sentManagers,
  storedManagers,
  writtenManagers,
} from './managers.ts';

/** The manager of fields that existed before the first apply, if their ownership was not tracked. */
const BEFORE_FIRST_APPLY = 'before-first-apply';

/** trackFields tracks the ownership of fields as the API server does. The registry provides the served versions. */
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
      // A write to a subresource cannot change managedFields.
      const sent = writer.subresource === '' ? metadata.managedFields : undefined;
      metadata.managedFields = stored;
      const changed = sent && !isSameJson(sent, stored) ? changedManagers(sent) : undefined;
      if (!changed && !stored) return;
      const change = changeOf(resource, old, object, writer);
      if (!changed && isNoChange(change)) return;
      const managers = changed ?? storedManagers(stored);
      // Once all ownership is cleared, it is not tracked until the next apply.
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
      const conflicts = remainingConflicts(outcome.conflicts, manager, live, apiVersion, shape);
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

/** changedManagers returns the managers that a client sent; undefined if they are invalid. */
function changedManagers(sent: NonNullable<DraftMeta['managedFields']>): Managers | undefined {
  const managers = requestsReset(sent) ? new Map<string, Manager>() : sentManagers(sent);
  return managers && (managers.size > 0 || requestsReset(sent)) ? managers : undefined;
}

/** settle removes managers of versions that no longer exist, and adapts field sets to a changed schema. */
function settle(managers: Managers, resource: ApiResource, registry: Pick<Registry, 'find'>): void {
  const shape = resource.shape ?? ANY_SHAPE;
  const own = apiVersionOf(resource);
  removeFields(managers, ({ apiVersion, fields }) =>
    apiVersion === own || isServed(apiVersion, resource, registry) ? collapseAtomicFields(fields, shape) : NO_FIELDS,
  );
}

function isServed(apiVersion: string, resource: ApiResource, registry: Pick<Registry, 'find'>): boolean {
  const { group, version } = parseApiVersion(apiVersion);
  // Versions of custom resources differ only in name, also those that are no longer served.
  if (resource.schema === undefined && group === resource.group) return true;
  return registry.find(group, version, resource.resource)?.collection === resource.collection;
}

/** changeOf returns the ownable fields that a write changes; `old` is undefined for a create. */
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

/** ownable returns the part of an object that can be owned: not what only the server sets. */
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

/** Metadata of any kind holds no empty values. */
function notEmpty<T extends object>(value: T | undefined): T | undefined {
  for (const _ in value) return value;
  return undefined;
}

/** record removes written and deleted fields from all managers, then gives the writer the fields that it wrote. */
function record(resource: ApiResource, change: FieldChange, managers: Managers, writer: FieldWriter): void {
  const { written, removed } = change;
  if (isNoChange(change)) return;
  removeFields(managers, ({ fields }) => subtractFields(subtractFields(fields, written), removed));
  if (isEmptySet(written)) return;
  const { manager, subresource, now } = writer;
  const entry = { manager, subresource, operation: 'Update', apiVersion: apiVersionOf(resource) } as const;
  const fields = uniteFields(managers.get(identityOf(entry))?.fields ?? NO_FIELDS, written);
  // The API server drops the time of fields that are written through another kind.
  managers.set(identityOf(entry), { ...entry, fields, time: subresource === 'scale' ? undefined : formatTime(now) });
  poolOldest(managers);
}

/** refuseUntyped throws the API server's error for an object that it cannot apply. */
function refuseUntyped({ group, version, kind }: ApiResource, applied: JsonObject, shape: FieldShape): void {
  const problems = shapeProblems(applied, shape);
  if (problems.length === 0) return;
  const { namespace, name }: { namespace?: unknown; name?: unknown } = metadataOf(applied);
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const what = `${text(namespace)}/${text(name)}; ${group}/${version}, Kind=${kind}`;
  const why = problems.length === 1 ? problems[0] : ['errors:', ...problems.map((each) => `  ${each}`)].join('\n');
  throw new StatusError(500, undefined, `failed to create typed patch object (${what}): ${why}`);
}

/** An apply may remove all metadata. */
function asDraft(object: JsonObject): Draft {
  return { ...object, metadata: { ...metadataOf(object) } };
}

const STATUS: FieldsV1 = { 'f:status': NO_FIELDS };
const SPEC: FieldsV1 = { 'f:spec': NO_FIELDS };

/** Other fields that a status write does not change, by kind. */
const KEPT_BY_STATUS: Readonly<Record<string, FieldsV1>> = {
  'Deployment.apps': { ...SPEC, 'f:metadata': { 'f:labels': NO_FIELDS } },
  'Pod.': { ...SPEC, 'f:metadata': { 'f:deletionTimestamp': NO_FIELDS, 'f:ownerReferences': NO_FIELDS } },
};

/**
 * resetFields returns the fields that a write to a path cannot change, whatever it sends: the writer does not become
 * their owner.
 */
function resetFields({ group, kind, subresources }: ApiResource, subresource: string): FieldsV1 {
  if (subresource === 'status') return KEPT_BY_STATUS[`${kind}.${group}`] ?? SPEC;
  return subresources.has('status') ? STATUS : NO_FIELDS;
}
