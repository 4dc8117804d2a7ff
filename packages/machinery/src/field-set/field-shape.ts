import { resolveSchema, type Schema, schemaFor } from '@bowline/kubernetes/schemas';
import { additionalSchema, ownSchema, type StructuralSchema } from '../schema/structural-schema.ts';
import { SERVER_DEFAULTS } from './server-defaults.ts';

/**
 * FieldShape is what comparing values needs to know of a schema, whichever form that has. What it does not say is not
 * known.
 */
export interface FieldShape {
  /** Values of these formats may be written in several ways that mean the same. */
  readonly format: 'byte' | 'date-time' | 'quantity' | undefined;
  /** Whether server-side apply is known to own the members of the map or list one by one. */
  readonly granular: boolean;
  /** What stands for an absent value. */
  readonly default: unknown;
  /** What the API server is known to fill in, by member. */
  readonly serverDefaults: Readonly<Record<string, unknown>> | undefined;
  /** member is the shape of a member of an object or a map. */
  member(name: string): FieldShape | undefined;
  /** element is the shape of a list's elements. */
  element(): FieldShape | undefined;
}

const shapes = new WeakMap<object, FieldShape>();

/** builtInShape is the shape of a built-in kind, or undefined for any other. */
export function builtInShape(apiVersion: string, kind: string): FieldShape | undefined {
  const schema = schemaFor(apiVersion, kind);
  return schema && compactShape(schema);
}

/** customShape is the shape of a custom resource with this schema. */
export function customShape(schema: StructuralSchema): FieldShape {
  return cached(schema, () => {
    const shape = structuralShape(schema);
    // A custom resource's metadata is not in its schema: it is that of every kind.
    const metadata = builtInShape('v1', 'ConfigMap')?.member('metadata');
    return { ...shape, member: (name) => (name === 'metadata' ? metadata : shape.member(name)) };
  });
}

function compactShape(schema: Schema): FieldShape {
  return cached(schema, () => {
    const whole = resolveSchema(schema);
    const { format, type, items, properties, additionalProperties } = whole;
    return {
      format: format === 'byte' || format === 'date-time' || format === 'quantity' ? format : undefined,
      granular:
        type === 'array'
          ? whole.listType === 'map' || whole.listType === 'set'
          : type === 'object' && whole.mapType !== 'atomic' && !whole.preserveUnknown,
      default: whole.default,
      serverDefaults: schema.ref === undefined ? undefined : SERVER_DEFAULTS[schema.ref],
      member(name) {
        const below = ownSchema(properties, name) ?? additionalProperties;
        return below && compactShape(below);
      },
      element: () => items && compactShape(items),
    };
  });
}

function structuralShape(schema: StructuralSchema): FieldShape {
  const { type, items } = schema;
  const listType = schema['x-kubernetes-list-type'];
  return {
    // The server keeps what a custom resource says as it was written, quantities and times too.
    format: undefined,
    granular:
      type === 'array'
        ? listType === 'map' || listType === 'set'
        : type === 'object' && schema['x-kubernetes-map-type'] !== 'atomic',
    default: schema.default,
    serverDefaults: undefined,
    member(name) {
      const below = ownSchema(schema.properties, name) ?? additionalSchema(schema);
      return below && structuralShape(below);
    },
    element: () => items && structuralShape(items),
  };
}

function cached(schema: object, make: () => FieldShape): FieldShape {
  let shape = shapes.get(schema);
  if (shape === undefined) {
    shape = make();
    shapes.set(schema, shape);
  }
  return shape;
}
