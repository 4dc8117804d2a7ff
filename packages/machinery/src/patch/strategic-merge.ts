import { resolveSchema, type Schema } from '@bowline/kubernetes/schemas';
import { isObject, type JsonObject, member, setMember } from '../json/json.ts';
import { malformedDirective, patchFailed, unexpectedType, unknownDirective } from './strategic-merge-error.ts';
import { type MergeElement, mergeList, orderList, withoutElements } from './strategic-merge-list.ts';

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const ELEMENT_ORDER = '$setElementOrder';
const DELETE_FROM = '$deleteFromPrimitiveList';

/**
 * strategicMerge returns the document that results from a strategic merge patch, as the API server computes it for a
 * built-in kind: objects are merged, null removes a member, and lists are replaced or merged as the schema specifies.
 * The input is not changed; parts that the patch does not touch are shared with it. It throws a StrategicMergeError.
 *
 * @example
 * const schema = schemaFor('v1', 'Pod');
 * strategicMerge(pod, { spec: { containers: [{ name: 'app', image: 'app:2' }] } }, schema); // the other containers stay
 */
export function strategicMerge(document: unknown, patch: JsonObject, schema: Schema): unknown {
  const kind = member(isObject(document) ? document : {}, 'kind');
  return mergeObject(isObject(document) ? document : {}, patch, { schema, name: typeof kind === 'string' ? kind : '' });
}

/** Position locates a part of an object during the merge: its schema, and the API server's name for its type. */
interface Position {
  /** Undefined below the fields that the schema describes. */
  readonly schema: Schema | undefined;
  readonly name: string;
}

function mergeObject(before: JsonObject, patch: JsonObject, position: Position): JsonObject {
  if (Object.hasOwn(patch, DIRECTIVE)) return replaced(patch);
  const after: { [name: string]: unknown } = { ...before };
  if (Object.hasOwn(patch, RETAIN_KEYS)) retainKeys(after, patch);
  const ordered = new Set<string>();
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(ELEMENT_ORDER)) continue;
    const name = memberName(directive, ELEMENT_ORDER);
    setMember(after, name, mergeOrdered(after, patch, name, patch[directive], position));
    ordered.add(name);
  }
  // Deletions run before additions; otherwise the result would depend on the order of members.
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(DELETE_FROM)) continue;
    const name = memberName(directive, DELETE_FROM);
    setMember(after, name, withoutDeleted(member(after, name), patch[directive], name, position));
  }
  for (const [name, change] of Object.entries(patch)) {
    if (change === undefined || ordered.has(name) || isDirective(name)) continue;
    setMember(after, name, mergedMember(member(after, name), change, name, position));
  }
  return after;
}

/** replaced returns the result for a map whose patch has `$patch`. */
function replaced(patch: JsonObject): JsonObject {
  const { [DIRECTIVE]: directive, ...rest } = patch;
  if (directive === 'replace') return rest;
  if (directive === 'delete') return {};
  throw unknownDirective(directive, patch);
}

function isDirective(name: string): boolean {
  return name === RETAIN_KEYS || name.startsWith(ELEMENT_ORDER) || name.startsWith(DELETE_FROM);
}

/** memberName returns the member that a directive applies to: `containers` for `$setElementOrder/containers`. */
function memberName(directive: string, prefix: typeof ELEMENT_ORDER | typeof DELETE_FROM): string {
  if (directive[prefix.length] !== '/') {
    throw malformedDirective(prefix === ELEMENT_ORDER ? 'setElementOrder list' : 'primitive list');
  }
  return directive.slice(prefix.length + 1);
}

/** retainKeys drops the members that the patch does not list; the patch must list all members that it sets. */
function retainKeys(after: { [name: string]: unknown }, patch: JsonObject): void {
  const listed = patch[RETAIN_KEYS];
  if (!Array.isArray(listed)) throw malformedDirective('retainKeys');
  const retained = new Set<unknown>(listed);
  for (const [name, change] of Object.entries(patch)) {
    if (change !== null && !isDirective(name) && !retained.has(name)) throw malformedDirective('retainKeys');
  }
  for (const name of Object.keys(after)) if (!retained.has(name)) setMember(after, name, undefined);
}

/** mergedMember returns a member after the patch; undefined if it is removed. */
function mergedMember(current: unknown, change: unknown, name: string, position: Position): unknown {
  if (change === null) return undefined;
  if (isObject(change) && isObject(current)) {
    const below = memberPosition(position, name);
    const isReplaced = below.schema?.patchStrategy?.includes('replace') ?? false;
    return isReplaced ? change : mergeObject(current, change, below);
  }
  if (Array.isArray(change) && Array.isArray(current))
    return mergedList(current, change, memberPosition(position, name));
  return hasDirective(change) ? undefined : withoutDirectives(change);
}

/**
 * withoutDeleted returns a list of scalars without the deleted ones. Any other value is treated as an ordinary patch if
 * its type matches.
 */
function withoutDeleted(current: unknown, deleted: unknown, name: string, position: Position): unknown {
  if (deleted === null) return undefined;
  if (Array.isArray(current) && Array.isArray(deleted)) {
    const { schema = {}, name: type } = memberPosition(position, name);
    const merged = () => mergeList(current, deleted, schema.patchMergeKey, type, elementMerger(schema, type));
    return withoutElements(current, deleted) ?? merged();
  }
  const hasSameType = typeof current === typeof deleted && Array.isArray(current) === Array.isArray(deleted);
  return hasSameType ? mergedMember(current, deleted, name, position) : current;
}

function mergedList(current: readonly unknown[], change: readonly unknown[], position: Position): readonly unknown[] {
  const { schema, name } = position;
  if (!schema?.patchStrategy?.includes('merge')) return change;
  return mergeList(current, change, schema.patchMergeKey, name, elementMerger(schema, name));
}

function elementMerger({ items }: Schema, name: string): MergeElement {
  const schema = items && resolveSchema(items);
  return (element, change) => mergeObject(element, change, { schema, name: items ? nameOf(items) : name });
}

/** mergeOrdered merges a list and sorts it into the order that the patch specifies. */
function mergeOrdered(
  after: JsonObject,
  patch: JsonObject,
  name: string,
  order: unknown,
  position: Position,
): readonly unknown[] | undefined {
  if (!Array.isArray(order)) throw unexpectedType('list', order);
  const current = member(after, name);
  const change = member(patch, name);
  if (current !== undefined && !Array.isArray(current)) throw unexpectedType('list', current);
  if (change !== undefined && !Array.isArray(change)) throw unexpectedType('list', change);
  const below = memberPosition(position, name);
  const mergeKey = below.schema?.patchMergeKey;
  return orderList(current, change, order, mergeKey, (from, to) => {
    return from === undefined ? (withoutDirectives(to) as unknown[]) : mergedList(from, to, below);
  });
}

/** memberPosition returns the position of a member. A member that the schema does not describe cannot be merged, only set. */
function memberPosition({ schema, name: type }: Position, name: string): Position {
  const { properties, additionalProperties, preserveUnknown } = schema ?? {};
  const below = properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (below) return { schema: resolveSchema(below), name: nameOf(below) };
  if (additionalProperties) {
    throw patchFailed('merging an object in json but data type is not struct, instead is: map');
  }
  const struct = preserveUnknown ? 'RawExtension' : type;
  throw patchFailed(`unable to find api field in struct ${struct} for the json field ${JSON.stringify(name)}`);
}

function nameOf({ ref, preserveUnknown }: Schema): string {
  return ref?.slice(ref.indexOf('.') + 1) ?? (preserveUnknown ? 'RawExtension' : '');
}

/**
 * withoutDirectives returns a value that is not merged with anything: nulls are dropped because there is nothing to
 * remove, and so are maps with `$patch`, whatever its value. The API server drops even those with `replace`.
 */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((each) => !hasDirective(each)).map(withoutDirectives);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(
    ([, below]) => below !== null && below !== undefined && !hasDirective(below),
  );
  // fromEntries defines its members, so `__proto__` stays an ordinary member.
  return Object.fromEntries(kept.map(([name, below]) => [name, withoutDirectives(below)]));
}

function hasDirective(value: unknown): boolean {
  return isObject(value) && Object.hasOwn(value, DIRECTIVE);
}
