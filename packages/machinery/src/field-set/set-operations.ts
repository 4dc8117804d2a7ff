import { type FieldsV1, isLeaf } from './fields-v1.ts';

/** NO_FIELDS is the empty set. Below a path element, it marks that the element itself is in the set. */
export const NO_FIELDS: FieldsV1 = Object.freeze({});

/** isEmptySet reports whether a set contains no field. */
export function isEmptySet(fields: FieldsV1): boolean {
  for (const _ in fields) return false;
  return true;
}

/** isMember reports whether a node itself is in the set, not only something below it. */
export function isMember(node: FieldsV1): boolean {
  return node['.'] !== undefined || isLeaf(node);
}

/** withSelf returns a node that is itself in the set, with everything below it. */
export function withSelf(below: FieldsV1): FieldsV1 {
  return below['.'] !== undefined || isEmptySet(below) ? below : { '.': NO_FIELDS, ...below };
}

/** Operation defines which members are kept: `keeps` decides for elements that are in both sets. */
interface Operation {
  readonly keeps: (inA: boolean, inB: boolean) => boolean;
  /** Whether elements that are only in one of the sets are kept. */
  readonly keepsA: boolean;
  readonly keepsB: boolean;
}

const UNION: Operation = { keeps: (a, b) => a || b, keepsA: true, keepsB: true };
const DIFFERENCE: Operation = { keeps: (a, b) => a && !b, keepsA: true, keepsB: false };
const INTERSECTION: Operation = { keeps: (a, b) => a && b, keepsA: false, keepsB: false };

/** uniteFields returns the set of all fields that are in either set. */
export function uniteFields(a: FieldsV1, b: FieldsV1): FieldsV1 {
  return combine(a, b, UNION);
}

/**
 * subtractFields returns the set of the fields in `a` that are not in `b`. A field below a member of `b` is not in `b`
 * itself.
 */
export function subtractFields(a: FieldsV1, b: FieldsV1): FieldsV1 {
  return combine(a, b, DIFFERENCE);
}

/** intersectFields returns the set of the fields that are in both sets. */
export function intersectFields(a: FieldsV1, b: FieldsV1): FieldsV1 {
  return combine(a, b, INTERSECTION);
}

/** excludeFields returns the set of the fields of `a` that are neither in `b` nor below a member of `b`. */
export function excludeFields(a: FieldsV1, b: FieldsV1): FieldsV1 {
  let result: { [element: string]: FieldsV1 } | undefined;
  for (const element in b) {
    const node = a[element];
    const excluded = b[element];
    if (element === '.' || node === undefined || excluded === undefined) continue;
    result ??= { ...a };
    const rest = isMember(excluded) ? undefined : excludeFields(node, excluded);
    if (rest === undefined || (isEmptySet(rest) && !isMember(node))) delete result[element];
    else result[element] = isLeaf(rest) ? NO_FIELDS : rest;
  }
  return result ?? a;
}

/** combine combines the elements of two nodes; the caller decides whether the nodes themselves are members. */
function combine(a: FieldsV1, b: FieldsV1, operation: Operation): FieldsV1 {
  const { keeps, keepsA, keepsB } = operation;
  const result: { [element: string]: FieldsV1 } = {};
  for (const element in a) {
    const left = a[element];
    if (element === '.' || left === undefined) continue;
    const right = b[element];
    if (right === undefined) {
      if (keepsA) result[element] = left;
      continue;
    }
    const below = combine(left, right, operation);
    if (keeps(isMember(left), isMember(right))) result[element] = withSelf(below);
    else if (!isEmptySet(below)) result[element] = below;
  }
  if (keepsB) {
    for (const element in b) {
      const right = b[element];
      if (element !== '.' && right !== undefined && a[element] === undefined) result[element] = right;
    }
  }
  return result;
}
