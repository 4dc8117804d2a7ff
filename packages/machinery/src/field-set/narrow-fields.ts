import { ANY_SHAPE, type FieldShape } from './field-shape.ts';
import { type FieldsV1, isLeaf } from './fields-v1.ts';
import { NO_FIELDS, withSelf } from './set-operations.ts';

/**
 * addNamedFields adds to a set the named fields that contain members of it. They are in no applied set, but are
 * removed together with their content.
 */
export function addNamedFields(fields: FieldsV1, shape: FieldShape): FieldsV1 {
  return mapNodes(fields, shape, (element, node, below) => {
    const inside = below ? addNamedFields(node, below) : node;
    return element.startsWith('f:') && shape.declares(element.slice(2)) ? withSelf(inside) : inside;
  });
}

/**
 * collapseAtomicFields returns a set without the fields inside values that are owned as a whole: their owners own all of it. A
 * schema change can leave such sets behind.
 */
export function collapseAtomicFields(fields: FieldsV1, shape: FieldShape): FieldsV1 {
  return mapNodes(fields, shape, (_element, node, below) => {
    if (below === undefined || below === ANY_SHAPE) return node;
    const isAtomic =
      (below.type === 'object' && below.mapType === 'atomic') ||
      (below.type === 'array' && below.listType === 'atomic');
    return isAtomic ? NO_FIELDS : collapseAtomicFields(node, below);
  });
}

/** mapNodes returns a set with changed nodes; leaf nodes are skipped. It returns the same set if no node changes. */
function mapNodes(
  fields: FieldsV1,
  shape: FieldShape,
  change: (element: string, node: FieldsV1, below: FieldShape | undefined) => FieldsV1,
): FieldsV1 {
  let result: { [element: string]: FieldsV1 } | undefined;
  for (const element in fields) {
    const node = fields[element];
    if (element === '.' || node === undefined || isLeaf(node)) continue;
    const changed = change(element, node, element.startsWith('f:') ? shape.member(element.slice(2)) : shape.element());
    if (changed === node) continue;
    result ??= { ...fields };
    result[element] = changed;
  }
  return result ?? fields;
}
