import { apiPath, COVERED, META, moduleName, parseDefinition } from './modules.ts';
import type { GroupVersionKind, InputDocument, Operation, SchemaNode } from './open-api.ts';

/** ServerDocument is the part used here of the server's response at `/openapi/v3/<path>`. */
export interface ServerDocument {
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, SchemaNode>> };
}

/**
 * normalise converts the server's documents, by module, to the generator's input. The server repeats every definition
 * in each document that refers to it, and most of its bytes are descriptions and parameters. Therefore:
 *
 * - a definition is kept once, in the module of its name; definitions with the same name must be equal, and those of
 *   group-versions that are not covered are rejected, because references to them could not be resolved;
 * - descriptions are removed;
 * - of an operation, only the action and the group, version and kind are kept: with the path, they determine plural,
 *   scope, verbs and subresources. Parameters, bodies, responses, tags and operation ids are removed, and so are the
 *   discovery document's own path and the deprecated `/watch/` paths;
 * - keys are sorted.
 */
export function normalise(server: ReadonlyMap<string, ServerDocument>): ReadonlyMap<string, InputDocument> {
  const info = infoOf(server);
  const schemas = new Map<string, Map<string, SchemaNode>>();
  for (const module of [META, ...COVERED.map(moduleName)]) schemas.set(module, new Map());
  for (const [module, document] of server) {
    for (const [fullName, node] of Object.entries(document.components?.schemas ?? {})) {
      const home = schemas.get(parseDefinition(fullName).module);
      if (home === undefined) throw new Error(`${module} refers to ${fullName}, whose group-version is not covered`);
      const kept = withoutDescriptions(node);
      const known = home.get(fullName);
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(kept)) {
        throw new Error(`${module} defines ${fullName} differently from earlier documents`);
      }
      home.set(fullName, kept);
    }
  }
  return new Map(
    [...schemas].map(([module, definitions]) => [
      module,
      {
        info,
        paths: pathsOf(server.get(module)),
        schemas: Object.fromEntries([...definitions].sort(([a], [b]) => compare(a, b))),
      },
    ]),
  );
}

/** serverPaths returns the documents to fetch from the server: module → path. */
export function serverPaths(): ReadonlyMap<string, string> {
  return new Map(COVERED.map((covered) => [moduleName(covered), `/openapi/v3/${apiPath(covered)}`]));
}

/** compare orders strings by code unit: the same on every machine, regardless of its locale. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function infoOf(server: ReadonlyMap<string, ServerDocument>): string {
  const all = new Set([...server.values()].map(({ info }) => `${info.title} ${info.version}`));
  const [info, ...others] = all;
  if (info === undefined || others.length > 0)
    throw new Error(`the documents come from several servers: ${[...all].join(', ')}`);
  return info;
}

/** A property may be named `description` too (JSONSchemaProps has one): only the keyword has a string value. */
function withoutDescriptions<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutDescriptions) as T;
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value)
    .filter(([key, member]) => !(key === 'description' && typeof member === 'string'))
    .sort(([a], [b]) => compare(a, b))
    .map(([key, member]) => [key, withoutDescriptions(member)]);
  return Object.fromEntries(kept) as T;
}

function pathsOf(document: ServerDocument | undefined): InputDocument['paths'] {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [path, item] of Object.entries(document?.paths ?? {}).sort(([a], [b]) => compare(a, b))) {
    if (path.endsWith('/') || path.includes('/watch/')) continue;
    const operations: Record<string, Operation> = {};
    for (const [method, operation] of Object.entries(item).sort(([a], [b]) => compare(a, b))) {
      if (method !== 'parameters') operations[method] = operationOf(operation as Operation);
    }
    paths[path] = operations;
  }
  return paths;
}

function operationOf(operation: Operation): Operation {
  const action = operation['x-kubernetes-action'];
  const kind = operation['x-kubernetes-group-version-kind'];
  return {
    ...(action !== undefined && { 'x-kubernetes-action': action }),
    ...(kind !== undefined && { 'x-kubernetes-group-version-kind': sortedKind(kind) }),
  };
}

function sortedKind({ group, kind, version }: GroupVersionKind): GroupVersionKind {
  return { group, kind, version };
}
