import { apiVersionOf, type CustomResourceSubresourceScale } from '@bowline/kubernetes';
import type { Schema } from '@bowline/kubernetes/schemas';
import { type FieldProblem, goText, goType, isSameJson, type JsonObject } from '@bowline/machinery';
import { applyDefaults, prune, type StructuralSchema, unknownFields, validate } from '@bowline/machinery/schema';
import type { Draft, Strategy } from '../registry/api-resource.ts';
import { decodeBuiltIn } from '../registry/decode-built-in.ts';
import { invalid } from '../registry/kinds/shared/problems.ts';
import { forbidden } from '../status/api-status.ts';
import { valueAt } from './custom-scale.ts';

/** CustomKind is what the strategy of a custom resource depends on. */
export interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly resource: string;
  readonly schema: StructuralSchema;
  readonly hasStatus: boolean;
  /** Where a scale finds its counts, if there is one. */
  readonly scale: CustomResourceSubresourceScale | undefined;
  /** Whether the definition is being deleted: nothing new is made then. */
  readonly isTerminating: () => boolean;
}

const MOST_REPLICAS = 2 ** 31 - 1;

/** customStrategy is how objects of a custom resource are read, completed and judged: by their schema. */
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
      // A null that is not allowed is as good as absent.
      if (filled !== content) replaceContent(object, { ...filled, metadata });
    },
    validate: (object, old) => customProblems(kind, object, old),
    countsGeneration: (object, old) => !isSameJson(contentOf(object, hasStatus), contentOf(old, hasStatus)),
  };
}

/** customStatusStrategy is the strategy of `/status`: of what it is sent, the status alone counts. */
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

/** replaceContent gives a draft other fields. They are defined, not assigned: `__proto__` is a field like any other. */
function replaceContent(object: Draft, content: JsonObject): void {
  for (const field of Object.keys(object)) if (!Object.hasOwn(content, field)) object[field] = undefined;
  for (const [field, value] of Object.entries(content))
    Object.defineProperty(object, field, { value, writable: true, enumerable: true, configurable: true });
}

/** What every object has: read as the API server reads it, whatever the kind. */
const METADATA: Schema = { ref: 'meta-v1.ObjectMeta' };

function decodeCustom({ kind, version, schema }: CustomKind, value: JsonObject): ReturnType<Strategy['decode']> {
  const pruned = prune(value, schema, { isResource: true }) as JsonObject;
  const unknown = pruned === value ? [] : unknownFields(value, schema, { isResource: true });
  const read = decodeBuiltIn(kind, version, METADATA, (pruned.metadata ?? {}) as JsonObject).object;
  // What is read is taken for a whole object, which would have metadata of its own.
  const { metadata: _, ...metadata } = read;
  return { object: { ...pruned, metadata } as Draft, unknown };
}

function customProblems(kind: CustomKind, object: Draft, old: Draft | undefined): FieldProblem[] {
  const value = wholeOf(kind, object);
  const problems = validate(value, kind.schema, { oldValue: old && wholeOf(kind, old), isResource: true });
  return withCounts(problems, replicaProblems(kind, value));
}

/** statusProblems are those of the whole, in words that name fields from the status on. */
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

/** That rules were not checked is said last. */
function withCounts(problems: readonly FieldProblem[], counts: readonly FieldProblem[]): FieldProblem[] {
  const isLast = ({ field }: FieldProblem): boolean => field === '<nil>';
  return [...problems.filter((each) => !isLast(each)), ...counts, ...problems.filter(isLast)];
}

/** wholeOf is an object as rules see it: what it is said with, and nothing that is undefined. */
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

/** replicaProblems: what a scale shows must be counts. */
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
    return replicas > MOST_REPLICAS
      ? [invalid(path, replicas, `should be less than or equal to ${MOST_REPLICAS}`)]
      : [];
  });
}
