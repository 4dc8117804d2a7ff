import { resolveSchema, type Schema, schemaFor } from '@bowline/kubernetes/schemas';
import {
  additionalSchema,
  ownSchema,
  type SchemaType,
  type StructuralSchema,
} from '../structural-schema/structural-schema.ts';
import { SERVER_DEFAULTS } from './server-defaults.ts';

/**
 * FieldShape holds what a comparison of values needs to know about a schema, in whichever form the schema is. An
 * unspecified property is unknown.
 */
export interface FieldShape {
  /** The format, if its values can be written in several equivalent ways. */
  readonly format: 'byte' | 'date-time' | 'quantity' | undefined;
  /** Whether server-side apply is known to own the members of the map or list individually. */
  readonly granular: boolean;
  /**
   * The type of the values: `scalar` if they may be anything but objects and lists, undefined if they may be of any
   * type.
   */
  readonly type: SchemaType | 'scalar' | undefined;
  /** Whether an object is owned by member or as a whole. */
  readonly mapType: 'granular' | 'atomic';
  /** What identifies the elements of a list: their keys, their value, or nothing. */
  readonly listType: 'map' | 'set' | 'atomic';
  /** The members that identify the elements of a list of type `map`, sorted by name. */
  readonly keys: readonly string[];
  /** The default for an absent value. */
  readonly default: unknown;
  /** The values that the API server is known to fill in, by member. */
  readonly serverDefaults: Readonly<Record<string, unknown>> | undefined;
  /** member returns the shape of a member of an object or a map. */
  member(name: string): FieldShape | undefined;
  /** declares reports whether a member is a declared field, rather than a key of a map. */
  declares(name: string): boolean;
  /** element returns the shape of a list's elements. */
  element(): FieldShape | undefined;
}

const compactShapes = new WeakMap<object, FieldShape>();
const structuralShapes = new WeakMap<object, FieldShape>();
const customShapes = new WeakMap<object, FieldShape>();

/** The properties of a shape for which the schema specifies nothing. */
const UNKNOWN = {
  format: undefined,
  granular: false,
  type: undefined,
  listType: 'atomic',
  keys: [],
  default: undefined,
  serverDefaults: undefined,
  declares: () => false,
} as const;

/**
 * ANY_SHAPE is the shape of values without a schema: objects are owned by member, at every depth, and lists as a whole.
 */
export const ANY_SHAPE: FieldShape = {
  ...UNKNOWN,
  mapType: 'granular',
  member: () => ANY_SHAPE,
  element: () => OPAQUE_SHAPE,
};

/** OPAQUE_SHAPE is the shape of values of any type that are owned as a whole. */
const OPAQUE_SHAPE: FieldShape = {
  ...UNKNOWN,
  mapType: 'atomic',
  member: () => OPAQUE_SHAPE,
  element: () => OPAQUE_SHAPE,
};

const STRING_SHAPE: FieldShape = { ...OPAQUE_SHAPE, type: 'string' };

/** builtInShape returns the shape of a built-in kind, or undefined for any other kind. */
export function builtInShape(apiVersion: string, kind: string): FieldShape | undefined {
  const schema = schemaFor(apiVersion, kind);
  return schema && compactShape(schema);
}

/** customShape returns the shape of a custom resource with this schema. */
export function customShape(schema: StructuralSchema): FieldShape {
  return cached(customShapes, schema, () => asResource(structuralShape(schema)));
}

/** asResource adds the fields that the schema of a resource leaves out because they are the same for every kind. */
function asResource(shape: FieldShape): FieldShape {
  const metadata = builtInShape('v1', 'ConfigMap')?.member('metadata');
  const common = (name: string): FieldShape | undefined =>
    name === 'metadata' ? metadata : name === 'apiVersion' || name === 'kind' ? STRING_SHAPE : undefined;
  return {
    ...shape,
    member: (name) => common(name) ?? shape.member(name),
    declares: (name) => common(name) !== undefined || shape.declares(name),
  };
}

function compactShape(schema: Schema): FieldShape {
  return cached(compactShapes, schema, () => {
    const whole = resolveSchema(schema);
    const { format, type, items, properties, additionalProperties } = whole;
    if (whole.preserveUnknown) return type === 'object' ? { ...ANY_SHAPE, type } : OPAQUE_SHAPE;
    const listType = (type === 'array' && whole.listType) || 'atomic';
    const mapType = type === 'object' && whole.mapType !== 'atomic' ? 'granular' : 'atomic';
    return {
      format: format === 'byte' || format === 'date-time' || format === 'quantity' ? format : undefined,
      granular: listType !== 'atomic' || mapType === 'granular',
      type: typeOf(type, format),
      mapType,
      listType,
      keys: (whole.listMapKeys ?? []).toSorted(),
      default: whole.default,
      serverDefaults: schema.ref === undefined ? undefined : SERVER_DEFAULTS[schema.ref],
      member(name) {
        const below = ownSchema(properties, name) ?? additionalProperties;
        return below && compactShape(below);
      },
      declares: (name) => ownSchema(properties, name) !== undefined,
      element: () => items && compactShape(items),
    };
  });
}

function structuralShape(schema: StructuralSchema): FieldShape {
  return cached(structuralShapes, schema, () => {
    const { type, items, properties, additionalProperties } = schema;
    if (type === undefined) return schema['x-kubernetes-preserve-unknown-fields'] ? ANY_SHAPE : OPAQUE_SHAPE;
    const listType = (type === 'array' && schema['x-kubernetes-list-type']) || 'atomic';
    const mapType = type === 'object' && schema['x-kubernetes-map-type'] !== 'atomic' ? 'granular' : 'atomic';
    const others = additionalSchema(schema);
    const isOpen =
      schema['x-kubernetes-preserve-unknown-fields'] === true ||
      additionalProperties === true ||
      (additionalProperties === undefined && Object.keys(properties ?? {}).length === 0);
    const shape: FieldShape = {
      // The server stores the values of a custom resource as they were written, including quantities and times.
      format: undefined,
      granular: listType !== 'atomic' || mapType === 'granular',
      type: typeOf(type, schema.format),
      mapType,
      listType,
      keys: (schema['x-kubernetes-list-map-keys'] ?? []).toSorted(),
      default: schema.default,
      serverDefaults: undefined,
      member(name) {
        const below = ownSchema(properties, name) ?? others;
        if (below) return structuralShape(below);
        return isOpen ? ANY_SHAPE : undefined;
      },
      declares: (name) => ownSchema(properties, name) !== undefined,
      element: () => items && structuralShape(items),
    };
    return schema['x-kubernetes-embedded-resource'] ? asResource(shape) : shape;
  });
}

/** Server-side apply accepts any number or text as a time; it is validated later. */
function typeOf(type: SchemaType | undefined, format: string | undefined): FieldShape['type'] {
  return format === 'date-time' ? 'scalar' : type;
}

function cached(shapes: WeakMap<object, FieldShape>, schema: object, make: () => FieldShape): FieldShape {
  let shape = shapes.get(schema);
  if (shape === undefined) {
    shape = make();
    shapes.set(schema, shape);
  }
  return shape;
}
