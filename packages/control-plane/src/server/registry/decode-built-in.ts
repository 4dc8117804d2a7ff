import { resolveSchema, type Schema } from '@bowline/kubernetes/schemas';
import { badRequest } from '../status/api-status.ts';
import type { Decoded, Draft } from './api-resource.ts';

/**
 * decodeBuiltIn reads an object of a built-in kind as the API server's own types would: fields that they lack are dropped and
 * named, null is the same as absent, and a value of another type is an error that names the field.
 */
export function decodeBuiltIn(
  kind: string,
  version: string,
  schema: Schema,
  value: Readonly<Record<string, unknown>>,
): Decoded {
  const unknown: string[] = [];
  const wrong = (path: string, found: unknown, wanted: string): never => {
    throw badRequest(
      `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: json: cannot unmarshal ${goType(found)} into Go struct field ${path} of type ${wanted}`,
    );
  };
  const read = (found: unknown, given: Schema, path: string): unknown => {
    const whole = resolveSchema(given);
    if (whole.preserveUnknown) return found;
    if (whole.intOrString) {
      return typeof found === 'number' || typeof found === 'string' ? found : wrong(path, found, 'intstr.IntOrString');
    }
    if (whole.format === 'quantity') return typeof found === 'number' ? String(found) : readString(found, path);
    switch (whole.type) {
      case 'object':
        return readObject(found, whole, path);
      case 'array': {
        if (!Array.isArray(found)) return wrong(path, found, 'slice');
        const { items } = whole;
        return items
          ? found.map((each, index) => (each === null ? null : read(each, items, `${path}[${index}]`)))
          : found;
      }
      case 'integer':
        return typeof found === 'bigint' || (typeof found === 'number' && Number.isInteger(found))
          ? found
          : wrong(path, found, whole.format ?? 'int64');
      case 'number':
        return typeof found === 'number' ? found : wrong(path, found, 'float64');
      case 'boolean':
        return typeof found === 'boolean' ? found : wrong(path, found, 'bool');
      case 'string':
        return readString(found, path);
      default:
        return found;
    }
  };
  const readString = (found: unknown, path: string): unknown =>
    typeof found === 'string' ? found : wrong(path, found, 'string');
  const readObject = (
    found: unknown,
    { properties, additionalProperties, required }: Schema,
    path: string,
  ): unknown => {
    if (typeof found !== 'object' || found === null || Array.isArray(found)) return wrong(path, found, 'struct');
    const result: Record<string, unknown> = {};
    for (const [name, below] of Object.entries(found)) {
      const here = path === '' ? name : `${path}.${name}`;
      const known = properties && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      if (!known) {
        unknown.push(here);
      } else if (below !== null && below !== undefined) {
        const value = read(below, known, here);
        if (!isLeftOut(value, name, known, required)) define(result, name, value);
      }
    }
    return result;
  };
  const object = readObject(value, resolveSchema(schema), '') as Draft;
  object.metadata ??= {};
  return { object, unknown: unknown.sort() };
}

/**
 * The API server does not keep lists and maps with nothing in them, unless they must be there. That there are no managedFields
 * is the exception: it says something.
 */
function isLeftOut(value: unknown, name: string, schema: Schema, required: readonly string[] | undefined): boolean {
  if (typeof value !== 'object' || value === null || required?.includes(name) || name === 'managedFields') return false;
  if (Array.isArray(value)) return schema.type === 'array' && value.length === 0;
  return schema.type === 'object' && !schema.properties && !schema.preserveUnknown && Object.keys(value).length === 0;
}

/** An assignment to `__proto__` would change what the object inherits. */
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
