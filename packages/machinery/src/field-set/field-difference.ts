import { isObject, isSameJson, type JsonObject, member } from '../json/json.ts';
import type { FieldShape } from './field-shape.ts';
import { elementsOf, type FieldsV1, fieldBelow, isLeaf, parsePathElement } from './fields-v1.ts';
import { type KeyElement, matchElements } from './match-elements.ts';
import { isSameOwned, isSameScalar } from './same-value.ts';

/**
 * FieldDifference is the first field that an apply would change, and the reason. It contains no values, because they
 * may be secret.
 */
export interface FieldDifference {
  /** For example `.spec.containers[name="a"].image`. */
  readonly path: string;
  /**
   * - `value`: the stored value differs;
   * - `owner`: our manager does not own the field yet, or no longer does;
   * - `dropped`: our manager owns the field and no longer applies it;
   * - `order`: the elements have a different order;
   * - `unclear`: the stored value cannot be compared.
   */
  readonly why: 'value' | 'owner' | 'dropped' | 'order' | 'unclear';
}

/** The metadata fields for which the API server does not record an owner. */
const UNOWNED_METADATA = new Set([
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'generation',
  'managedFields',
  'resourceVersion',
]);

/**
 * findDifference returns what a server-side apply of `desired` would change, given the stored object and the set of
 * fields that our manager owns in it; undefined if nothing would change. It follows the set, which shows how the server
 * merges each list and map; the shape is only used to recognize equivalent values. In case of doubt it reports a
 * difference.
 *
 * It relies on the server removing a field from our set as soon as another manager changes it.
 */
export function findDifference(
  desired: object,
  live: object,
  owned: FieldsV1,
  shape?: FieldShape,
): FieldDifference | undefined {
  const { apiVersion: _, kind: __, metadata, ...content } = desired as JsonObject;
  const wanted: { [name: string]: unknown } = content;
  const ownableMetadata = isObject(metadata)
    ? Object.entries(metadata).filter(([name]) => !UNOWNED_METADATA.has(name))
    : [];
  // Metadata that contains only the name owns nothing.
  if (ownableMetadata.some(([, value]) => value !== undefined)) wanted.metadata = Object.fromEntries(ownableMetadata);
  return findInObject(wanted, live, owned, shape, '');
}

function findInValue(
  desired: unknown,
  live: unknown,
  owned: FieldsV1,
  shape: FieldShape | undefined,
  path: string,
): FieldDifference | undefined {
  if (isLeaf(owned)) {
    if (Array.isArray(desired) || isObject(desired)) {
      // The value is granular, and yet it is owned as a whole: it was empty when it was applied last.
      if (shape?.granular && !isEmptyValue(desired)) return { path, why: 'owner' };
      return isSameOwned(desired, live, shape) ? undefined : { path, why: 'value' };
    }
    return isSameScalar(desired, live, shape) ? undefined : { path, why: 'value' };
  }
  if (Array.isArray(desired)) return findInList(desired, live, owned, shape, path);
  if (isObject(desired)) return findInObject(desired, live, owned, shape, path);
  return { path, why: 'value' };
}

function findInObject(
  desired: JsonObject,
  live: unknown,
  owned: FieldsV1,
  shape: FieldShape | undefined,
  path: string,
): FieldDifference | undefined {
  const stored = isObject(live) ? live : {};
  for (const [name, value] of Object.entries(desired)) {
    if (value === undefined) continue;
    const here = `${path}.${name}`;
    const below = fieldBelow(owned, name);
    if (below === undefined) {
      if (ownsNothing(value)) continue;
      return { path: here, why: 'owner' };
    }
    const difference = findInValue(value, member(stored, name), below, shape?.member(name), here);
    if (difference) return difference;
  }
  for (const element of elementsOf(owned)) {
    const name = element.startsWith('f:') ? element.slice(2) : undefined;
    if (name === undefined) return { path, why: 'unclear' };
    if (member(desired, name) === undefined) return { path: `${path}.${name}`, why: 'dropped' };
  }
  return undefined;
}

function findInList(
  desired: readonly unknown[],
  live: unknown,
  owned: FieldsV1,
  shape: FieldShape | undefined,
  path: string,
): FieldDifference | undefined {
  const stored: readonly unknown[] = Array.isArray(live) ? live : [];
  const elements = elementsOf(owned).map((text) => ({ text, path: parsePathElement(text) }));
  const keys = elements.flatMap(({ text, path: element }) =>
    element?.type === 'key' ? [{ text, key: element.key }] : [],
  );
  if (keys.length === elements.length) return findInKeyedList(desired, stored, keys, owned, shape, path);
  const values = elements.flatMap(({ path: element }) => (element?.type === 'value' ? [element.value] : []));
  if (values.length === elements.length) return findInSet(desired, stored, values, path);
  return { path, why: 'unclear' };
}

function findInKeyedList(
  desired: readonly unknown[],
  stored: readonly unknown[],
  keys: readonly KeyElement[],
  owned: FieldsV1,
  shape: FieldShape | undefined,
  path: string,
): FieldDifference | undefined {
  const elementShape = shape?.element();
  const matches = matchElements(desired, stored, keys, elementShape);
  if (matches === undefined) return { path, why: 'unclear' };
  const storedIndexes: number[] = [];
  for (const { item, text, storedIndex } of matches) {
    const below = text === undefined ? undefined : owned[text];
    if (text === undefined || below === undefined) return { path, why: 'owner' };
    const here = `${path}[${text.slice(2)}]`;
    if (storedIndex === undefined) return { path: here, why: 'value' };
    storedIndexes.push(storedIndex);
    const difference = findInValue(item, stored[storedIndex], below, elementShape, here);
    if (difference) return difference;
  }
  const droppedKey = keys.find(({ text }) => !matches.some((match) => match.text === text));
  if (droppedKey) return { path: `${path}[${droppedKey.text.slice(2)}]`, why: 'dropped' };
  return findInOrder(storedIndexes, path);
}

function findInSet(
  desired: readonly unknown[],
  stored: readonly unknown[],
  values: readonly unknown[],
  path: string,
): FieldDifference | undefined {
  const has = (list: readonly unknown[], value: unknown): boolean => list.some((each) => isSameJson(each, value));
  if (!desired.every((value) => has(values, value))) return { path, why: 'owner' };
  if (!values.every((value) => has(desired, value))) return { path, why: 'dropped' };
  const storedIndexes = desired.map((value) => stored.findIndex((each) => isSameJson(each, value)));
  return storedIndexes.includes(-1) ? { path, why: 'value' } : findInOrder(storedIndexes, path);
}

/** The server keeps the order in which elements were applied, and the order matters: init containers run in it. */
function findInOrder(storedIndexes: readonly number[], path: string): FieldDifference | undefined {
  // The order does not matter in the lists of metadata, and a client that writes them back may change it.
  if (path.startsWith('.metadata.')) return undefined;
  return storedIndexes.every((storedIndex, index) => storedIndex >= (storedIndexes[index - 1] ?? 0))
    ? undefined
    : { path, why: 'order' };
}

function isEmptyValue(value: unknown): boolean {
  return Array.isArray(value)
    ? value.length === 0
    : isObject(value) && Object.values(value).every((each) => each === undefined);
}

/** An empty list that is merged by element has no owner, and neither does an object that contains only such lists. */
function ownsNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (!isObject(value)) return false;
  const members = Object.values(value).filter((each) => each !== undefined);
  return members.length > 0 && members.every(ownsNothing);
}
