import type { CustomResourceDefinition } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import type { ApiResource, Draft, Strategy, TableColumn } from '../registry/api-resource.ts';
import { statusStrategy } from '../registry/built-in-strategy.ts';
import { IMMUTABLE, invalid } from '../registry/kinds/shared/problems.ts';
import { isEstablished, withCondition } from './conditions.ts';
import { loadSchemaEngine, schemaEngine } from './schema-engine.ts';

/** CLEANUP is the finalizer that keeps a definition until its objects are deleted. */
export const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

/** definitionOf casts an object to a definition: the schema of the kind was already applied to it. */
export function definitionOf(object: object): CustomResourceDefinition {
  return object as CustomResourceDefinition;
}

/** collectionOf returns the collection that stores the objects of a definition. */
export function collectionOf({ spec }: CustomResourceDefinition): string {
  return `${spec.names.plural}.${spec.group}`;
}

interface WrittenSpec {
  names?: { plural?: string; kind?: string; singular?: string; listKind?: string };
  conversion?: { strategy: string };
  versions?: { name?: string; served?: boolean; storage?: boolean }[];
  group?: string;
  scope?: string;
}

/** Missing required fields are set to empty values, which validation then reports. */
function applyDefaults(object: Draft): void {
  const spec = (object.spec ?? {}) as WrittenSpec;
  object.spec = spec;
  spec.conversion ??= { strategy: 'None' };
  spec.group ??= '';
  spec.scope ??= '';
  spec.versions ??= [];
  const { kind = '', plural = '', singular, listKind, ...more } = spec.names ?? {};
  spec.names = {
    ...more,
    plural,
    kind,
    singular: singular || kind.toLowerCase(),
    listKind: listKind || (kind && `${kind}List`),
  };
  for (const version of spec.versions) {
    version.name ??= '';
    version.served ??= false;
    version.storage ??= false;
  }
}

/** storageVersion returns the version in which new objects are stored. */
function storageVersion(object: Draft): string | undefined {
  return definitionOf(object).spec.versions.find(({ storage }) => storage)?.name;
}

function prepareForCreate(object: Draft): void {
  const stored = storageVersion(object);
  object.status = {
    conditions: null,
    acceptedNames: { plural: '', kind: '' },
    storedVersions: stored === undefined ? undefined : [stored],
  };
}

/** From now on objects may also be stored in the current storage version. */
function prepareForUpdate(object: Draft): void {
  const stored = storageVersion(object);
  const { status } = definitionOf(object);
  const versions = status?.storedVersions ?? [];
  if (stored !== undefined && !versions.includes(stored))
    object.status = { ...status, storedVersions: [...versions, stored] };
}

function validate(object: Draft, old: Draft | undefined): FieldProblem[] {
  const definition = definitionOf(object);
  const { definitionProblems } = schemaEngine();
  if (!old) return definitionProblems(definition, undefined);
  const [before, now] = [definitionOf(old).spec, definition.spec];
  const changed = (field: string, was: unknown, is: unknown): FieldProblem[] =>
    was === is ? [] : [invalid(field, is, IMMUTABLE)];
  const problems = [...definitionProblems(definition, definitionOf(old))];
  if (isEstablished(definitionOf(old))) {
    problems.push(...changed('spec.scope', before.scope, now.scope));
    problems.push(...changed('spec.names.kind', before.names.kind, now.names.kind));
  }
  problems.push(...changed('spec.group', before.group, now.group));
  problems.push(...changed('spec.names.plural', before.names.plural, now.names.plural));
  return problems;
}

/** warningsOf returns new warnings: those that already applied to the old definition are not repeated. */
function warningsOf(object: Draft, old: Draft | undefined): string[] {
  const { formatWarnings } = schemaEngine();
  const of = (draft: Draft): string[] =>
    definitionOf(draft).spec.versions.flatMap(({ schema }) => formatWarnings(schema?.openAPIV3Schema ?? {}));
  const known = new Set(old && of(old));
  return of(object).filter((warning) => !known.has(warning));
}

/** A definition is deleted after its objects. The deletion does not change its generation. */
function prepareForDelete(object: Draft, old: Draft, now: number): void {
  const { metadata } = object;
  metadata.generation = old.metadata.generation;
  metadata.deletionGracePeriodSeconds = undefined;
  if (old.metadata.deletionTimestamp !== undefined) return;
  metadata.finalizers = [...new Set([...(metadata.finalizers ?? []), CLEANUP])];
  const { status } = definitionOf(object);
  const message = 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon';
  const condition = { type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending', message } as const;
  object.status = { ...status, conditions: withCondition(status?.conditions, condition, now) };
}

const COLUMNS: readonly TableColumn[] = [
  {
    name: 'Created At',
    type: 'date',
    format: '',
    description: 'When the definition was created.',
    priority: 0,
    cell: ({ metadata }) => metadata?.creationTimestamp ?? null,
  },
];

/** withDefinitionRules returns the resource of definitions: the built-in kind with additional rules. */
export function withDefinitionRules(resource: ApiResource): ApiResource {
  const base = resource.strategy;
  const strategy: Strategy = {
    ...base,
    applyDefaults,
    prepareForCreate,
    prepareForUpdate(object, old, context) {
      base.prepareForUpdate?.(object, old, context);
      prepareForUpdate(object);
    },
    loadForValidate: loadSchemaEngine,
    validate,
    warningsOf,
    prepareForDelete,
  };
  const status = resource.subresources.get('status');
  const subresources = new Map(resource.subresources);
  if (status) subresources.set('status', { ...status, strategy: { ...statusStrategy(strategy), applyDefaults } });
  return { ...resource, strategy, subresources, columns: COLUMNS };
}
