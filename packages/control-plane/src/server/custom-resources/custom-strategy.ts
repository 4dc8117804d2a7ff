import { apiVersionOf, type CustomResourceSubresourceScale } from '@bowline/kubernetes';
import type { Schema } from '@bowline/kubernetes/schemas';
import { type FieldProblem, goText, goType, isSameJson, type JsonObject } from '@bowline/machinery';
import { applyDefaults, prune, type StructuralSchema, unknownFields, validate } from '@bowline/machinery/schema';
import type { Draft, Strategy } from '../registry/api-resource.ts';
import { decodeBuiltIn } from '../registry/decode-built-in.ts';
import { invalid } from '../registry/kinds/shared/problems.ts';
import { forbidden } from '../status/api-status.ts';
import { valueAt } from './custom-scale.ts';

/** CustomKind holds what the strategy of a custom resource depends on. */
export interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly resource: string;
  readonly schema: StructuralSchema;
  readonly hasStatus: boolean;
  /** The paths of the replica counts, if the kind has a scale subresource. */
  readonly scale: CustomResourceSubresourceScale | undefined;
  /** Whether the definition is being deleted: creates are then rejected. */
  readonly isTerminating: () => boolean;
}

const MAX_REPLICAS = 2 ** 31 - 1;

/**
 * customStrategy returns the strategy of a custom resource: it decodes, defaults and validates objects by their schema.
 */
export function customStrategy(kind: CustomKind): Strategy {
  const { schema, hasStatus, isTerminating } = kind;
  return {
    decode: (value) => decodeCustom(kind, value),
    prepareForCreate(object) {
      if (isTerminating()) {
        const why = 'create not allowed while custom resource definition is terminating';
        throw forbidden(kind, object.metadata.name ?? '', why);
      }
      if (hasStatus) object.status = undefined;
    },
    prepareForUpdate(object, old) {
      if (hasStatus) object.status = old.status;
    },
    applyDefaults(object) {
      const { metadata, ...content } = object;
      const filled = applyDefaults(content, schema) as JsonObject;
      // A null that is not allowed counts as absent.
      if (filled !== content) replaceContent(object, { ...filled, metadata });
    },
    validate: (object, old) => customProblems(kind, object, old),
    countsGeneration: (object, old) => !isSameJson(contentOf(object, hasStatus), contentOf(old, hasStatus)),
  };
}

/** customStatusStrategy returns the strategy of `/status`: it uses only the status of what a client sends. */
export function customStatusStrategy(kind: CustomKind, whole: Strategy): Strategy {
  return {
    decode: (value) => whole.decode(value),
    applyDefaults: whole.applyDefaults,
    prepareForUpdate(object, old) {
      const { status } = object;
      const { managedFields, resourceVersion } = object.metadata;
      const { metadata, ...content } = structuredClone(old);
      replaceContent(object, { ...content, status, metadata: { ...metadata, managedFields, resourceVersion } });
    },
    validate: (object, old) => statusProblems(kind, object, old),
  };
}

/**
 * replaceContent replaces the fields of a draft. They are defined, not assigned, because `__proto__` is a field like
 * any other.
 */
function replaceContent(object: Draft, content: JsonObject): void {
  for (const field of Object.keys(object)) if (!Object.hasOwn(content, field)) object[field] = undefined;
  for (const [field, value] of Object.entries(content))
    Object.defineProperty(object, field, { value, writable: true, enumerable: true, configurable: true });
}

/** The metadata of every object is decoded as the API server does, whatever the kind. */
const METADATA: Schema = { ref: 'meta-v1.ObjectMeta' };

function decodeCustom({ kind, version, schema }: CustomKind, value: JsonObject): ReturnType<Strategy['decode']> {
  const pruned = prune(value, schema, { isResource: true }) as JsonObject;
  const unknown = pruned === value ? [] : unknownFields(value, schema, { isResource: true });
  const read = decodeBuiltIn(kind, version, METADATA, (pruned.metadata ?? {}) as JsonObject).object;
  // The decoder treats its input as a whole object, which has metadata of its own.
  const { metadata: _, ...metadata } = read;
  return { object: { ...pruned, metadata } as Draft, unknown };
}

function customProblems(kind: CustomKind, object: Draft, old: Draft | undefined): FieldProblem[] {
  const value = wholeOf(kind, object);
  const problems = validate(value, kind.schema, { oldValue: old && wholeOf(kind, old), isResource: true });
  return withCounts(problems, replicaProblems(kind, value));
}

/** statusProblems returns the problems of the whole object, worded as a validation that starts at the status. */
function statusProblems(kind: CustomKind, object: Draft, old: Draft | undefined): FieldProblem[] {
  const problems = customProblems(kind, object, old);
  const { status: schema } = kind.schema.properties ?? {};
  if (problems.length === 0 || schema === undefined || object.status === undefined) return problems;
  const inStatus = validate(object.status, schema, { path: 'status', oldValue: old?.status });
  return problems.map((problem) => {
    const same = inStatus.find(({ field, reason }) => field === problem.field && reason === problem.reason);
    return same ?? problem;
  });
}

/** The problem that rules were not checked comes last. */
function withCounts(problems: readonly FieldProblem[], counts: readonly FieldProblem[]): FieldProblem[] {
  const isLast = ({ field }: FieldProblem): boolean => field === '<nil>';
  return [...problems.filter((each) => !isLast(each)), ...counts, ...problems.filter(isLast)];
}

/** wholeOf returns an object as rules see it: with apiVersion and kind, and without undefined fields. */
function wholeOf(kind: CustomKind, object: Draft): JsonObject {
  const metadata = defined(object.metadata);
  return { ...defined(object), apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
}

function defined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

function contentOf({ metadata, apiVersion, kind, status, ...content }: Draft, hasStatus: boolean): JsonObject {
  return hasStatus ? content : { ...content, status };
}

/** replicaProblems returns the problems of the fields that a scale shows: they must be counts. */
function replicaProblems({ scale }: CustomKind, value: JsonObject): FieldProblem[] {
  return [scale?.specReplicasPath, scale?.statusReplicasPath].flatMap((path) => {
    const replicas = path === undefined ? undefined : valueAt(value, path);
    if (path === undefined || replicas === undefined) return [];
    const isWhole = typeof replicas === 'bigint' || (typeof replicas === 'number' && Number.isInteger(replicas));
    if (!isWhole) {
      const found = `${goText(replicas)} is of the type ${goType(replicas)}, expected int64`;
      return [invalid(path, 0, `${path} accessor error: ${found}`)];
    }
    if (replicas < 0) return [invalid(path, replicas, 'should be a non-negative integer')];
    return replicas > MAX_REPLICAS ? [invalid(path, replicas, `should be less than or equal to ${MAX_REPLICAS}`)] : [];
  });
}
