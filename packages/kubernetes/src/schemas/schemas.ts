import { modules } from './generated/modules.ts';
import type { Schema, SchemaDocument } from './schema.ts';

export type { Schema } from './schema.ts';

const parsed = new Map<string, SchemaDocument>();
const resolved = new WeakMap<Schema, Schema>();

/**
 * schemaFor returns the schema of a built-in kind, or undefined if the package does not have the kind. The schemas of a
 * group-version are parsed on first use. The returned value is shared: do not change it.
 *
 * @example
 * const pod = schemaFor('v1', 'Pod');
 * const spec = pod?.properties?.spec && resolveSchema(pod.properties.spec);
 * spec?.properties?.containers?.listMapKeys; // ['name']
 */
export function schemaFor(apiVersion: string, kind: string): Schema | undefined {
  for (const [name, module] of Object.entries(modules)) {
    if (module?.apiVersion !== apiVersion) continue;
    const document = documentOf(name);
    if (document?.kinds.includes(kind)) return document.definitions[kind];
  }
  return undefined;
}

/**
 * resolveSchema follows the `ref` of a schema. It returns the definition, overridden by the field's own members
 * (default, patch strategy). A schema without `ref` is returned unchanged.
 */
export function resolveSchema(schema: Schema): Schema {
  if (schema.ref === undefined) return schema;
  const known = resolved.get(schema);
  if (known !== undefined) return known;
  const { ref, ...own } = schema;
  const [module = '', name = ''] = ref.split('.', 2);
  const definition = documentOf(module)?.definitions[name];
  if (definition === undefined) throw new TypeError(`schema reference ${ref} has no definition`);
  const result = Object.keys(own).length === 0 ? definition : { ...definition, ...own };
  resolved.set(schema, result);
  return result;
}

function documentOf(name: string): SchemaDocument | undefined {
  const known = parsed.get(name);
  if (known !== undefined) return known;
  const text = modules[name]?.text;
  if (text === undefined) return undefined;
  // The text is generated from this interface; a test checks all of it.
  const document = JSON.parse(text) as SchemaDocument;
  parsed.set(name, document);
  return document;
}
