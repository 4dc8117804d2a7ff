import { randomUUID } from 'node:crypto';
import {
  type FieldProblem,
  formatTime,
  labelKeyProblems,
  labelValueProblems,
  quoteText,
  type Random,
} from '@bowline/machinery';
import type { ApiResource, Draft } from '../registry/api-resource.ts';
import { generateName, nameProblems } from '../registry/names.ts';
import { managedFieldsProblems } from './managed-fields-problems.ts';

/** clearMeta clears the metadata that a client cannot set on a new object. */
export function clearMeta({ metadata }: Draft): void {
  metadata.uid = undefined;
  metadata.selfLink = undefined;
  metadata.creationTimestamp = undefined;
  metadata.deletionTimestamp = undefined;
  metadata.deletionGracePeriodSeconds = undefined;
}

/**
 * prepareNewMeta sets the metadata that only the server sets: identity and times. It generates the name if the object
 * has only a generateName.
 */
export function prepareNewMeta(object: Draft, random: Random, now: number): void {
  const { metadata } = object;
  clearMeta(object);
  metadata.uid = randomUUID();
  metadata.creationTimestamp = formatTime(now);
  metadata.generation = undefined;
  if (!metadata.name && metadata.generateName) metadata.name = generateName(metadata.generateName, random);
}

/** keepMeta restores the metadata that an update cannot change. */
export function keepMeta(object: Draft, old: Draft): void {
  const { metadata } = object;
  metadata.uid = old.metadata.uid;
  metadata.creationTimestamp = old.metadata.creationTimestamp;
  metadata.deletionTimestamp = old.metadata.deletionTimestamp;
  metadata.deletionGracePeriodSeconds = old.metadata.deletionGracePeriodSeconds;
  metadata.generation = old.metadata.generation;
  metadata.generateName ??= old.metadata.generateName;
  metadata.namespace = old.metadata.namespace;
  metadata.selfLink = undefined;
}

/** Finalizers that need no domain on built-in kinds. */
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/**
 * Built-in groups that accept finalizers without a domain. One of these groups uses such a finalizer itself, on
 * CustomResourceDefinitions.
 */
const FREE_FINALIZERS: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'coordination.k8s.io',
  'policy',
]);

/** The API server's limit for the total size of all annotation keys and values. */
const MAX_ANNOTATION_BYTES = 256 * 1024;

/** areTooLarge reports whether the total size of the annotations exceeds the limit of an object. */
export function areTooLarge(annotations: Readonly<Record<string, string>>): boolean {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  return bytes > MAX_ANNOTATION_BYTES;
}

/** metaProblems validates an object's metadata. */
export function metaProblems(
  object: Draft,
  old: Draft | undefined,
  { nameRule: rule, schema, group }: Pick<ApiResource, 'nameRule' | 'schema' | 'group'>,
): FieldProblem[] {
  const { name, generateName: prefix, labels, annotations, finalizers, ownerReferences } = object.metadata;
  const problems: FieldProblem[] = [];
  const add = (field: string, value: unknown, detail: string): void => {
    problems.push({
      field,
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(value)}: ${detail}`,
    });
  };
  if (!old) {
    if (prefix)
      for (const detail of nameProblems(prefix.replace(/.-$/s, 'a'), rule))
        add('metadata.generateName', prefix, detail);
    if (!name) {
      problems.push({
        field: 'metadata.name',
        reason: 'FieldValueRequired',
        message: 'Required value: name or generateName is required',
      });
    } else {
      for (const detail of nameProblems(name, rule)) add('metadata.name', name, detail);
    }
  } else if (name !== old.metadata.name) {
    add('metadata.name', name, 'field is immutable');
  }
  for (const [key, value] of Object.entries(labels ?? {})) {
    for (const detail of labelKeyProblems(key)) add('metadata.labels', key, detail);
    for (const detail of labelValueProblems(value)) add('metadata.labels', value, detail);
  }
  for (const key of Object.keys(annotations ?? {})) {
    for (const detail of labelKeyProblems(key.toLowerCase())) add('metadata.annotations', key, detail);
  }
  if (annotations && areTooLarge(annotations)) {
    problems.push({
      field: 'metadata.annotations',
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${MAX_ANNOTATION_BYTES} bytes`,
    });
  }
  for (const finalizer of finalizers ?? []) {
    for (const detail of labelKeyProblems(finalizer)) add('metadata.finalizers', finalizer, detail);
  }
  if (schema !== undefined && !FREE_FINALIZERS.has(group)) {
    (finalizers ?? []).forEach((finalizer, index) => {
      if (finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)) return;
      const detail = 'name is neither a standard finalizer name nor is it fully qualified';
      add(`metadata.finalizers[${index}]`, finalizer, detail);
    });
  }
  for (const reference of ownerReferences ?? []) {
    for (const member of ['apiVersion', 'kind', 'name', 'uid'] as const) {
      if (!reference[member]) add(`metadata.ownerReferences.${member}`, reference[member] ?? '', 'must not be empty');
    }
  }
  const controllers = (ownerReferences ?? []).filter(({ controller }) => controller === true);
  if (controllers.length > 1) {
    add(
      'metadata.ownerReferences',
      controllers.map(({ kind, name: owner }) => `${kind}/${owner}`),
      'Only one reference can have Controller set to true',
    );
  }
  problems.push(...managedFieldsProblems(object.metadata.managedFields));
  if (old?.metadata.deletionTimestamp) {
    const added = (finalizers ?? []).filter((each) => !old.metadata.finalizers?.includes(each));
    if (added.length > 0) {
      problems.push({
        field: 'metadata.finalizers',
        reason: 'FieldValueForbidden',
        message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map(quoteText).join(', ')}}`,
      });
    }
  }
  return problems;
}
