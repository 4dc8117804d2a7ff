import type { Schema, SchemaDocument } from '../../packages/kubernetes/src/schemas/schema.ts';
import { header } from './emit-types.ts';
import { isInterface, type Model } from './model.ts';
import { apiVersion, COVERED, META, moduleName, parseDefinition } from './modules.ts';
import { refTarget, type SchemaNode } from './open-api.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** emitSchemas writes a module's compact schemas as text that is parsed on first use. */
export function emitSchemas(model: Model, module: string): string {
  const document = compactDocument(model, module);
  const definitions = Object.entries(document.definitions).map(
    ([name, schema]) => `"${name}":${JSON.stringify(schema)}`,
  );
  const json = `{"kinds":${JSON.stringify(document.kinds)},"definitions":{\n${definitions.join(',\n')}\n}}`;
  // One definition per line, for readable diffs; line breaks have no meaning in JSON.
  const literal = json.replace(/[\\`$]/g, '\\$&');
  return `${header(model, `openapi/${module}.json`)}export const text = \`${literal}\`;\n`;
}

/** emitSchemaModules writes the table of the texts of all modules. */
export function emitSchemaModules(model: Model): string {
  const versions = new Map([
    [META, 'v1'],
    ...COVERED.map((covered) => [moduleName(covered), apiVersion(covered)] as const),
  ]);
  const variable = (module: string): string => module.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const imports = model.modules.map((module) => `import { text as ${variable(module)} } from './${module}.ts';\n`);
  const rows = model.modules.map(
    (module) => `  '${module}': { apiVersion: '${versions.get(module)}', text: ${variable(module)} },\n`,
  );
  return (
    `${header(model, 'openapi/*.json')}${imports.join('')}\n` +
    `export const modules: { readonly [module: string]: { readonly apiVersion: string; readonly text: string } | undefined } = {\n${rows.join('')}};\n`
  );
}

/** compactDocument returns a module's schemas in the form that `@bowline/kubernetes/schemas` provides. */
export function compactDocument(model: Model, module: string): SchemaDocument {
  const kinds: string[] = [];
  const definitions: Record<string, Schema> = {};
  for (const [name, node] of model.definitions(module)) {
    const isKind = node['x-kubernetes-group-version-kind']?.some(
      (gvk) => gvk.kind === name && (module === META ? gvk.group === '' : moduleName(gvk) === module),
    );
    if (isKind) kinds.push(name);
    definitions[name] = compact(model, node);
  }
  return { kinds, definitions };
}

function compact(model: Model, node: SchemaNode): Schema {
  const target = refTarget(node);
  if (target === undefined) return { ...shapeOf(model, node), ...marksOf(node) };
  const definition = model.definition(target);
  if (!isInterface(definition)) return { ...leafOf(model, target, definition), ...marksOf(node) };
  const { module, name } = parseDefinition(target);
  return { ref: `${module}.${name}`, ...marksOf(node) };
}

/** Definitions that are not objects with properties (times, quantities, raw JSON) are inlined. */
function leafOf(model: Model, fullName: string, node: SchemaNode): Schema {
  return parseDefinition(fullName).name === 'Quantity'
    ? { format: 'quantity' }
    : { ...shapeOf(model, node), ...marksOf(node) };
}

function shapeOf(model: Model, node: SchemaNode): Schema {
  if (node.format === 'int-or-string') return { intOrString: true };
  const shape: Mutable<Schema> = {};
  if (node.type !== undefined) shape.type = node.type;
  if (node.format !== undefined) shape.format = knownFormat(node.format);
  if (node.properties !== undefined) {
    shape.properties = Object.fromEntries(
      Object.entries(node.properties).map(([name, property]) => [name, compact(model, property)]),
    );
  }
  if (node.required !== undefined) shape.required = node.required;
  if (node.items !== undefined) shape.items = compact(model, node.items);
  if (node.additionalProperties !== undefined) {
    shape.additionalProperties = compact(model, node.additionalProperties);
  }
  if (node.enum !== undefined) shape.enum = node.enum;
  const isUnstructured =
    node.properties === undefined && node.additionalProperties === undefined && node.items === undefined;
  if ((node.type === undefined || node.type === 'object') && isUnstructured) shape.preserveUnknown = true;
  return shape;
}

function marksOf(node: SchemaNode): Schema {
  const marks: Mutable<Schema> = {};
  if (node.default !== undefined) {
    if (isScalar(node.default)) marks.default = node.default;
    else if (JSON.stringify(node.default) !== '{}')
      throw new Error(`default ${JSON.stringify(node.default)} is neither a scalar nor {}`);
  }
  const listType = node['x-kubernetes-list-type'];
  if (listType !== undefined) marks.listType = oneOf(['atomic', 'map', 'set'], listType, 'list type');
  if (node['x-kubernetes-list-map-keys'] !== undefined) marks.listMapKeys = node['x-kubernetes-list-map-keys'];
  const mapType = node['x-kubernetes-map-type'];
  if (mapType !== undefined) marks.mapType = oneOf(['atomic', 'granular'], mapType, 'map type');
  if (node['x-kubernetes-patch-merge-key'] !== undefined) marks.patchMergeKey = node['x-kubernetes-patch-merge-key'];
  const strategies = node['x-kubernetes-patch-strategy']?.split(',');
  if (strategies !== undefined) {
    marks.patchStrategy = strategies.map((strategy) =>
      oneOf(['merge', 'replace', 'retainKeys'], strategy, 'patch strategy'),
    );
  }
  return marks;
}

function knownFormat(format: string): NonNullable<Schema['format']> {
  return oneOf(['byte', 'date-time', 'double', 'int32', 'int64'], format, 'format');
}

function isScalar(value: unknown): value is boolean | number | string {
  return typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string';
}

/**
 * oneOf rejects a word that the Schema interface does not have: a new word must be understood before it is passed on.
 */
function oneOf<const T extends string>(known: readonly T[], word: string, what: string): T {
  const found = known.find((candidate) => candidate === word);
  if (found === undefined) throw new Error(`unknown ${what} ${word}; known are ${known.join(', ')}`);
  return found;
}
