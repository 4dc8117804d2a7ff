import { parseDefinition } from './modules.ts';
import type { InputDocument, Inputs, SchemaNode } from './open-api.ts';

/** ApiResource is a kind with its own URL (not only below another one, as with Eviction). */
export interface ApiResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Cluster' | 'Namespaced';
}

/** Model provides the inputs to the emitters. */
export interface Model {
  readonly version: string;
  /** Module names, sorted. */
  readonly modules: readonly string[];
  /** definitions returns the definitions of a module that become interfaces: short name → schema, sorted by name. */
  definitions(module: string): ReadonlyMap<string, SchemaNode>;
  /** resources returns the resources of a module by kind, sorted. */
  resources(module: string): ReadonlyMap<string, ApiResource>;
  /** definition returns a definition by its full name; it throws if there is none. */
  definition(fullName: string): SchemaNode;
}

/**
 * isInterface reports whether a definition is an object with named properties; scalars, maps and raw JSON are inlined.
 */
export function isInterface(node: SchemaNode): boolean {
  return node.properties !== undefined;
}

/** createModel indexes the inputs. */
export function createModel(inputs: Inputs): Model {
  const all = new Map<string, SchemaNode>();
  const byModule = new Map<string, Map<string, SchemaNode>>();
  const resources = new Map<string, ReadonlyMap<string, ApiResource>>();
  for (const [module, document] of inputs.documents) {
    const definitions = new Map<string, SchemaNode>();
    for (const [fullName, node] of Object.entries(document.schemas)) {
      all.set(fullName, node);
      const { name } = parseDefinition(fullName);
      if (definitions.has(name)) throw new Error(`${module} has two definitions called ${name}`);
      if (isInterface(node)) definitions.set(name, node);
    }
    byModule.set(module, sorted(definitions));
    resources.set(module, sorted(resourcesOf(module, document)));
  }
  const found = <T>(map: ReadonlyMap<string, T>, key: string): T => {
    const value = map.get(key);
    if (value === undefined) throw new Error(`the inputs have no ${key}; run npm run generate -- --fetch`);
    return value;
  };
  return {
    version: inputs.version,
    modules: [...inputs.documents.keys()].sort(),
    definitions: (module) => found(byModule, module),
    resources: (module) => found(resources, module),
    definition: (fullName) => found(all, fullName),
  };
}

// Groups: the namespaced prefix, and the plural. Deeper paths are subresources.
const RESOURCE_PATH =
  /^\/apis?(?:\/[a-z0-9.]+)?\/v[0-9][a-z0-9]*(\/namespaces\/\{namespace\})?\/([a-z]+)(?:\/\{name\})?$/;

function resourcesOf(module: string, document: InputDocument): Map<string, ApiResource> {
  const resources = new Map<string, ApiResource>();
  for (const [path, operations] of Object.entries(document.paths)) {
    const [, namespaced, plural] = RESOURCE_PATH.exec(path) ?? [];
    const names = Object.values(operations)[0]?.['x-kubernetes-group-version-kind'];
    if (plural === undefined || names === undefined) continue;
    const known = resources.get(names.kind);
    if (known !== undefined && known.plural !== plural) {
      throw new Error(`${module} serves kind ${names.kind} as ${known.plural} and as ${plural}`);
    }
    // A namespaced kind also has a path for all namespaces, without the prefix.
    const scope = namespaced !== undefined || known?.scope === 'Namespaced' ? 'Namespaced' : 'Cluster';
    resources.set(names.kind, { group: names.group, version: names.version, kind: names.kind, plural, scope });
  }
  return resources;
}

function sorted<T>(map: ReadonlyMap<string, T>): Map<string, T> {
  return new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
}
