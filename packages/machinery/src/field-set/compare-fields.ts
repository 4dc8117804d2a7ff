import { isObject, isSameJson, type JsonObject, member } from '../json/json.ts';
import { wholeSet } from './applied-set.ts';
import type { FieldShape } from './field-shape.ts';
import type { FieldsV1 } from './fields-v1.ts';
import { type Elements, elementNames, elementsByName, isEmptyObject, isGranularObject } from './list-elements.ts';
import { NO_FIELDS, withSelf } from './set-operations.ts';

/** FieldChange is the difference between two objects. */
export interface FieldChange {
  /** The fields that were added or changed. */
  readonly written: FieldsV1;
  readonly removed: FieldsV1;
}

const NO_CHANGE: FieldChange = { written: NO_FIELDS, removed: NO_FIELDS };

type MutableFields = { [element: string]: FieldsV1 };

/**
 * Nodes collects the changes in an object or a list by path element. Its members are undefined until there is a change.
 */
interface Nodes {
  written: MutableFields | undefined;
  removed: MutableFields | undefined;
}

/** compareFields returns the difference between two objects of a shape. The order of elements does not matter. */
export function compareFields(from: JsonObject, to: JsonObject, shape: FieldShape): FieldChange {
  const nodes: Nodes = { written: undefined, removed: undefined };
  compareMembers(from, to, shape, nodes);
  return nodes.written || nodes.removed
    ? { written: nodes.written ?? NO_FIELDS, removed: nodes.removed ?? NO_FIELDS }
    : NO_CHANGE;
}

function compareMembers(from: JsonObject, to: JsonObject, shape: FieldShape, nodes: Nodes): void {
  for (const name of Object.keys(to)) {
    const after = to[name];
    const before = member(from, name);
    if (after !== undefined && after !== before) compareAt(`f:${name}`, before, after, shape.member(name), nodes);
  }
  for (const name of Object.keys(from)) {
    const before = from[name];
    if (before !== undefined && member(to, name) === undefined)
      compareAt(`f:${name}`, before, undefined, shape.member(name), nodes);
  }
}

/** compareAt adds the difference at one path element to the nodes of its parent. */
function compareAt(
  element: string,
  before: unknown,
  after: unknown,
  shape: FieldShape | undefined,
  nodes: Nodes,
): void {
  if (before === undefined) {
    addNode(nodes, 'written', element, wholeSet(after, shape));
    return;
  }
  if (after === undefined) {
    addNode(nodes, 'removed', element, wholeSet(before, shape));
    return;
  }
  if (typeof before !== 'object' && typeof after !== 'object') {
    if (before !== after) addNode(nodes, 'written', element, NO_FIELDS);
    return;
  }
  const below: Nodes = { written: undefined, removed: undefined };
  const isWritten = compareValues(before, after, shape, below);
  if (isWritten) addNode(nodes, 'written', element, withSelf(below.written ?? NO_FIELDS));
  else if (below.written) addNode(nodes, 'written', element, below.written);
  if (below.removed) addNode(nodes, 'removed', element, below.removed);
}

/** compareValues adds the differences inside two values, and returns whether the value itself changed. */
function compareValues(before: unknown, after: unknown, shape: FieldShape | undefined, below: Nodes): boolean {
  // Comparing the whole list is cheaper than identifying its elements.
  if (Array.isArray(before) && isSameJson(before, after)) return false;
  const old = partsOf(before, shape);
  const now = partsOf(after, shape);
  if (shape === undefined || !(old || now)) return !isSameJson(before, after);
  const areObjects = isObject(before ?? after) && isObject(after ?? before);
  const areLists = Array.isArray(before ?? after) && Array.isArray(after ?? before);
  if (old?.object || now?.object) {
    compareMembers(old?.object ?? NO_MEMBERS, now?.object ?? NO_MEMBERS, shape, below);
  }
  if (old?.elements || now?.elements) {
    compareElements(old?.elements ?? NO_ELEMENTS, now?.elements ?? NO_ELEMENTS, shape.element(), below);
  }
  // Null compares like an empty value of the other's type; a text and an object have nothing in common, so the value
  // changed.
  return !areObjects && !areLists;
}

const NO_MEMBERS: JsonObject = {};
const NO_ELEMENTS: Elements = new Map();

/** Parts holds the members or elements of a value that is owned part by part. */
interface Parts {
  readonly object?: JsonObject;
  readonly elements?: Elements;
}

/** partsOf returns the parts of a value; undefined if it is owned as a whole or empty. */
function partsOf(value: unknown, shape: FieldShape | undefined): Parts | undefined {
  if (shape === undefined) return undefined;
  if (Array.isArray(value)) {
    const names = elementNames(value, shape);
    return names && names.length > 0 ? { elements: elementsByName(value, names) } : undefined;
  }
  return isGranularObject(value, shape) && !isEmptyObject(value) ? { object: value } : undefined;
}

function compareElements(from: Elements, to: Elements, shape: FieldShape | undefined, nodes: Nodes): void {
  for (const [name, after] of to) {
    const before = from.get(name);
    if (after.length === 1 && (before === undefined || before.length === 1)) {
      compareAt(name, before?.[0], after[0], shape, nodes);
      continue;
    }
    // Elements with the same name are owned together, as a whole.
    if (before && before.length > 1 && after.length > 1) {
      if (isSameJson(before, after)) continue;
    } else if (before) {
      addNode(nodes, 'removed', name, before.length > 1 ? NO_FIELDS : wholeSet(before[0], shape));
    }
    addNode(nodes, 'written', name, after.length > 1 ? NO_FIELDS : wholeSet(after[0], shape));
  }
  for (const [name, before] of from) {
    if (to.has(name)) continue;
    addNode(nodes, 'removed', name, before.length > 1 ? NO_FIELDS : wholeSet(before[0], shape));
  }
}

function addNode(nodes: Nodes, what: keyof Nodes, element: string, node: FieldsV1): void {
  const fields = nodes[what] ?? {};
  nodes[what] = fields;
  fields[element] = node;
}
