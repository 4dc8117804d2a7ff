import { resolveSchema, type Schema } from '@bowline/kubernetes/schemas';
import { badRequest } from '../status/api-status.ts';
import type { Decoded, Draft } from './api-resource.ts';
import { omitEmptyFields } from './omit-empty.ts';
import { readBytes, readQuantity, readTime } from './read-text.ts';

/**
 * decodeBuiltIn reads an object of a built-in kind as the API server's own types would: unknown fields are dropped and
 * listed, null is the same as absent, fields that the types always write are set, and a value of another type is an
 * error that names the field. Quantities, times and bytes are normalized to one form.
 */
export function decodeBuiltIn(
  kind: string,
  version: string,
  schema: Schema,
  value: Readonly<Record<string, unknown>>,
): Decoded {
  const unknown: string[] = [];
  // The current position. Paths are built from it only when needed, which is rare.
  const steps: (string | number)[] = [];
  const structs = [schema.ref?.split('.', 2)[1] ?? kind];
  const fail = (detail: string): never => {
    throw badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${detail}`);
  };
  const wrong = (found: unknown, wanted: string, literal = ''): never => {
    const path = steps.filter((step) => typeof step === 'string' && !step.startsWith('[')).join('.');
    const field = path === '' ? 'value' : `struct field ${structs.at(-1)}.${path}`;
    return fail(`json: cannot unmarshal ${goType(found)}${literal} into Go ${field} of type ${wanted}`);
  };
  const checked = (result: { readonly text?: string; readonly problem?: string }): string =>
    result.text ?? fail(result.problem ?? '');
  const read = (found: unknown, given: Schema): unknown => {
    const whole = resolveSchema(given);
    if (whole.preserveUnknown) return found;
    if (whole.intOrString) {
      return typeof found === 'string' ? found : readInteger(found, 'int32');
    }
    if (whole.format === 'quantity') return checked(readQuantity(found));
    switch (whole.type) {
      case 'object': {
        const name = given.ref?.split('.', 2)[1];
        if (name !== undefined) structs.push(name);
        const result = readObject(found, whole, given);
        if (name !== undefined) structs.pop();
        return result;
      }
      case 'array': {
        if (!Array.isArray(found)) return wrong(found, goTypeOf(given));
        const { items } = whole;
        return items ? found.map((each: unknown, index) => below(index, each ?? emptyOf(items), items)) : found;
      }
      case 'integer':
        return readInteger(found, whole.format ?? 'int64');
      case 'number':
        return typeof found === 'number' ? found : wrong(found, 'float64');
      case 'boolean':
        return typeof found === 'boolean' ? found : wrong(found, 'bool');
      case 'string':
        if (typeof found !== 'string') return wrong(found, goTypeOf(whole));
        if (whole.format === 'byte') return checked(readBytes(found));
        if (whole.format === 'date-time') return checked(readTime(found, String(steps.at(-1))));
        return found;
      default:
        return found;
    }
  };
  const below = (step: string | number, found: unknown, schema: Schema): unknown => {
    steps.push(step);
    const result = read(found, schema);
    steps.pop();
    return result;
  };
  const readInteger = (found: unknown, format: string): unknown => {
    if (typeof found !== 'number' && typeof found !== 'bigint') return wrong(found, format);
    const fits =
      typeof found === 'bigint'
        ? format === 'int64' && BigInt.asIntN(64, found) === found
        : Number.isInteger(found) && (format !== 'int32' || (found | 0) === found);
    return fits ? found : wrong(found, format, ` ${found}`);
  };
  const readObject = (found: unknown, whole: Schema, given: Schema): Record<string, unknown> => {
    if (typeof found !== 'object' || found === null || Array.isArray(found)) {
      if (given.ref !== undefined) structs.pop();
      return wrong(found, goTypeOf(given));
    }
    const { properties, additionalProperties, required } = whole;
    const result: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(found) as [string, unknown][]) {
      const known = properties && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      if (!known) {
        unknown.push(pathOf([...steps, name]));
      } else if (member !== null && member !== undefined) {
        // Map keys are not part of the path in error messages.
        const value = below(properties ? name : `[${name}`, member, known);
        const isZero = value === '' || value === 0 || value === false;
        if (isZero && properties && omitEmptyFields(properties, given.ref, kind).has(name)) continue;
        if (!isOmitted(value, name, known, required)) define(result, name, value);
      } else if (member === null && !properties) {
        // A map keeps its keys, even those with null values.
        define(result, name, emptyValue(known));
      }
    }
    if (properties) for (const [name, value] of defaultsOf(properties)) result[name] ??= value;
    return result;
  };
  const object = readObject(value, resolveSchema(schema), schema) as Draft;
  object.metadata ??= {};
  return { object, unknown };
}

const defaults = new WeakMap<object, readonly (readonly [string, unknown])[]>();

/** defaultsOf returns the scalar defaults of absent properties: mostly the values that Go always writes. */
function defaultsOf(properties: NonNullable<Schema['properties']>): readonly (readonly [string, unknown])[] {
  let known = defaults.get(properties);
  if (!known) {
    known = Object.entries(properties).flatMap(([name, schema]) =>
      schema.default === undefined ? [] : [[name, schema.default] as const],
    );
    defaults.set(properties, known);
  }
  return known;
}

/** emptyOf returns the value that a null item of a list is read as. */
function emptyOf(schema: Schema): unknown {
  const { type, format } = resolveSchema(schema);
  switch (type) {
    case 'object':
      return {};
    case 'array':
      return [];
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'string':
      return '';
    default:
      return format === 'quantity' ? '0' : null;
  }
}

/** emptyValue returns the value that the API server reads null as where a value is required. */
function emptyValue({ type, format }: Schema): unknown {
  if (format === 'quantity') return '0';
  const empty = { string: '', integer: 0, number: 0, boolean: false, array: [], object: {} };
  return type === undefined ? {} : empty[type];
}

/** pathOf formats a path as clients see it: `spec.ports[0].name`. */
function pathOf(steps: readonly (string | number)[]): string {
  return steps
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step.startsWith('[') ? step.slice(1) : step}`))
    .join('')
    .slice(1);
}

/**
 * The API server omits empty lists and maps unless they are required. managedFields is the exception: an empty list has
 * a meaning.
 */
function isOmitted(value: unknown, name: string, schema: Schema, required: readonly string[] | undefined): boolean {
  if (typeof value !== 'object' || value === null || required?.includes(name) || name === 'managedFields') return false;
  if (Array.isArray(value)) return schema.type === 'array' && value.length === 0;
  return schema.type === 'object' && !schema.properties && !schema.preserveUnknown && Object.keys(value).length === 0;
}

/** An assignment to `__proto__` would change the prototype of the object. */
function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
  else object[name] = value;
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'number';
  return typeof value;
}

/** goTypeOf returns the API server's name for the type of a field. */
function goTypeOf(schema: Schema): string {
  if (schema.ref !== undefined) {
    const [module = '', name = ''] = schema.ref.split('.', 2);
    return `${module.slice(module.lastIndexOf('-') + 1)}.${name}`;
  }
  switch (schema.type) {
    case 'array':
      return `[]${schema.items ? goTypeOf(schema.items) : 'interface {}'}`;
    case 'object':
      return `map[string]${schema.additionalProperties ? goTypeOf(schema.additionalProperties) : 'interface {}'}`;
    case 'boolean':
      return 'bool';
    case 'integer':
      return schema.format ?? 'int64';
    case 'number':
      return 'float64';
    default:
      return schema.format === 'byte' ? '[]uint8' : 'string';
  }
}
