import { type ApiResource, isInterface, type Model } from './model.ts';
import { PLAIN_NAMES, parseDefinition } from './modules.ts';
import { refTarget, type SchemaNode } from './open-api.ts';

/**
 * Types that OpenAPI cannot express, because the server encodes and decodes their JSON with custom code. The server
 * accepts a number for a quantity but always returns a string, and only a string is exact.
 */
const WRITTEN_BY_HAND: Readonly<Record<string, string | undefined>> = {
  Quantity: 'string',
  JSONSchemaPropsOrArray: 'JSONSchemaProps | readonly JSONSchemaProps[]',
  JSONSchemaPropsOrBool: 'JSONSchemaProps | boolean',
  JSONSchemaPropsOrStringArray: 'JSONSchemaProps | readonly string[]',
};

/** header returns the first line of every generated file. */
export function header(model: Model, source: string): string {
  return `// Generated from ${source} (Kubernetes ${model.version}) by \`npm run generate\`: do not edit.\n`;
}

/** emitTypes writes a module's interfaces and, for kinds with a URL, the resource with the same name. */
export function emitTypes(model: Model, module: string): string {
  const definitions = model.definitions(module);
  const resources = model.resources(module);
  const imports = new Imports(module, definitions);
  const blocks: string[] = [];
  for (const [name, node] of definitions) {
    blocks.push(emitInterface(model, imports, name, node));
    const resource = resources.get(name);
    if (resource !== undefined) blocks.push(emitResource(resource));
  }
  for (const kind of resources.keys()) {
    if (!definitions.has(kind)) throw new Error(`${module} serves kind ${kind} but does not define it`);
  }
  const resourceImport =
    resources.size > 0 ? "import { describeResource, type Resource } from '../describe-resource.ts';\n" : '';
  return `${header(model, `openapi/${module}.json`)}${resourceImport}${imports.emit()}\n${blocks.join('\n')}`;
}

/**
 * emitEntry writes the exports of the package entry: everything, and for a name that several modules define, the one
 * selected by PLAIN_NAMES. An explicit export takes precedence over `export *`, so only those names need a line.
 */
export function emitEntry(model: Model): string {
  const owners = new Map<string, string[]>();
  for (const module of model.modules) {
    for (const name of model.definitions(module).keys()) owners.set(name, [...(owners.get(name) ?? []), module]);
  }
  const decided = new Map<string, string[]>();
  for (const [name, modules] of [...owners].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (modules.length === 1) continue;
    const module = PLAIN_NAMES[name];
    if (module === undefined || !modules.includes(module)) {
      throw new Error(
        `${name} exists in ${modules.join(' and ')}; choose in PLAIN_NAMES which one the package entry exports`,
      );
    }
    const specifier = model.resources(module).has(name) ? name : `type ${name}`;
    decided.set(module, [...(decided.get(module) ?? []), specifier]);
  }
  const lines = [
    ...model.modules.map((module) => `export * from './${module}.ts';\n`),
    ...[...decided].map(([module, names]) => `export { ${names.join(', ')} } from './${module}.ts';\n`).sort(),
  ];
  return `${header(model, 'openapi/*.json')}${lines.join('')}`;
}

/** Imports collects the imports of a module, with an alias if a name is already used. */
class Imports {
  readonly #module: string;
  readonly #names: Map<string, string>;
  readonly #byModule = new Map<string, Map<string, string>>();

  constructor(module: string, own: ReadonlyMap<string, unknown>) {
    this.#module = module;
    this.#names = new Map([...own.keys()].map((name) => [name, module]));
  }

  /** name returns the name of a definition in this module's text. */
  name(fullName: string): string {
    const { module, name } = parseDefinition(fullName);
    if (module === this.#module) return name;
    const imported = this.#byModule.get(module) ?? new Map<string, string>();
    this.#byModule.set(module, imported);
    const known = imported.get(name);
    if (known !== undefined) return known;
    const alias = this.#names.has(name) ? `${pascalCase(module)}${name}` : name;
    this.#names.set(alias, module);
    imported.set(name, alias);
    return alias;
  }

  emit(): string {
    return [...this.#byModule]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([module, names]) => {
        const list = [...names].map(([name, alias]) => (name === alias ? name : `${name} as ${alias}`)).sort();
        return `import type { ${list.join(', ')} } from './${module}.ts';\n`;
      })
      .join('');
  }
}

function emitInterface(model: Model, imports: Imports, name: string, node: SchemaNode): string {
  let text = `export interface ${name} {\n`;
  for (const [property, schema] of Object.entries(node.properties ?? {})) {
    const type = typeOf(model, imports, schema);
    const key = /^[A-Za-z_$][\w$]*$/.test(property) ? property : quote(property);
    // Code that clears a field sets it to undefined, which exactOptionalPropertyTypes rejects for a bare `?`.
    const isRequired = node.required?.includes(property) ?? false;
    text += `  readonly ${key}${isRequired ? `: ${type}` : `?: ${type === 'unknown' ? type : `${type} | undefined`}`};\n`;
  }
  return `${text}}\n`;
}

function emitResource({ group, version, kind, plural, scope }: ApiResource): string {
  const id = quote(`${kind}.${version}.${group}`);
  const names = `group: ${quote(group)}, version: ${quote(version)}, kind: ${quote(kind)}, plural: ${quote(plural)}, scope: ${quote(scope)}`;
  return `export const ${kind}: Resource<${kind}, ${id}> = /* @__PURE__ */ describeResource({ ${names} });\n`;
}

function typeOf(model: Model, imports: Imports, node: SchemaNode): string {
  const target = refTarget(node);
  if (target !== undefined) {
    const byHand = WRITTEN_BY_HAND[parseDefinition(target).name];
    if (byHand !== undefined) return byHand;
    const definition = model.definition(target);
    return isInterface(definition) ? imports.name(target) : typeOf(model, imports, definition);
  }
  if (node.format === 'int-or-string') return 'number | string';
  if (node.enum !== undefined) return node.enum.map(quote).join(' | ');
  switch (node.type) {
    case 'array': {
      if (node.items === undefined) return 'readonly unknown[]';
      const item = typeOf(model, imports, node.items);
      return item.includes(' | ') ? `readonly (${item})[]` : `readonly ${item}[]`;
    }
    case 'boolean':
    case 'string':
      return node.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'object':
      if (node.properties !== undefined)
        throw new Error('an inline object has properties; the generator expects a $ref');
      if (node.additionalProperties === undefined) return 'unknown';
      return `{ readonly [key: string]: ${typeOf(model, imports, node.additionalProperties)} }`;
    default:
      if (node.oneOf !== undefined) throw new Error(`no type for ${JSON.stringify(node)}; add it to WRITTEN_BY_HAND`);
      return 'unknown';
  }
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function pascalCase(module: string): string {
  return module.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
