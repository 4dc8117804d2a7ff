import type { Verb } from '../http/request-info.ts';
import type { ApiResource, Subresource } from '../registry/api-resource.ts';
import { addDefinition, type Definition, type Definitions, mark, refTo } from './definitions.ts';
import type { KindNames } from './kind-definitions.ts';

/** Paths holds the paths of a document. */
export type Paths = Record<string, Definition>;

const text = (name: string): Definition => ({ name, in: 'query', schema: { type: 'string', uniqueItems: true } });
const flag = (name: string): Definition => ({ name, in: 'query', schema: { type: 'boolean', uniqueItems: true } });
const count = (name: string): Definition => ({ name, in: 'query', schema: { type: 'integer', uniqueItems: true } });
const inPath = (name: string): Definition => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string', uniqueItems: true },
});

const WRITE = [text('dryRun'), text('fieldManager'), text('fieldValidation')];
const SELECT = [
  text('continue'),
  text('fieldSelector'),
  text('labelSelector'),
  count('limit'),
  text('resourceVersion'),
  text('resourceVersionMatch'),
  flag('sendInitialEvents'),
  count('timeoutSeconds'),
];
const DELETE = [text('dryRun'), count('gracePeriodSeconds'), flag('orphanDependents'), text('propagationPolicy')];

/** Action describes what a method does at a path, and how clients call it. */
interface Action {
  readonly method: string;
  /** `x-kubernetes-action`. */
  readonly action: string;
  /** The prefix of the operation's id. */
  readonly id: string;
  readonly parameters: readonly Definition[];
}

const ACTIONS: Readonly<Partial<Record<Verb, Action>>> = {
  list: {
    method: 'get',
    action: 'list',
    id: 'list',
    parameters: [flag('allowWatchBookmarks'), ...SELECT, flag('watch')],
  },
  create: { method: 'post', action: 'post', id: 'create', parameters: WRITE },
  deletecollection: {
    method: 'delete',
    action: 'deletecollection',
    id: 'deleteCollection',
    parameters: [...DELETE, ...SELECT],
  },
  get: { method: 'get', action: 'get', id: 'read', parameters: [] },
  update: { method: 'put', action: 'put', id: 'replace', parameters: WRITE },
  patch: { method: 'patch', action: 'patch', id: 'patch', parameters: [...WRITE, flag('force')] },
  delete: { method: 'delete', action: 'delete', id: 'delete', parameters: DELETE },
};

const OF_COLLECTIONS: readonly Verb[] = ['list', 'create', 'deletecollection'];
const OF_OBJECTS: readonly Verb[] = ['get', 'update', 'patch', 'delete'];
const PATCH = 'io.k8s.apimachinery.pkg.apis.meta.v1.Patch';
const PATCHES = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];

/** addPaths adds the paths of a resource: its collection, its objects, and their subresources. */
export function addPaths(paths: Paths, definitions: Definitions, resource: ApiResource, names: KindNames): void {
  const { group, version, resource: plural, scope, verbs } = resource;
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const isNamespaced = scope === 'Namespaced';
  const collection = isNamespaced ? `${base}/namespaces/{namespace}/${plural}` : `${base}/${plural}`;
  const place = isNamespaced ? [inPath('namespace')] : [];
  const at = (path: string, parameters: readonly Definition[], operations: Definition): void => {
    if (Object.keys(operations).length > 0)
      paths[path] = { ...operations, parameters: [...parameters, text('pretty')] };
  };
  const of = (some: readonly Verb[]): Definition => {
    const chosen = some.filter((verb) => verbs.includes(verb));
    return operationsOf(definitions, resource, chosen, names);
  };
  at(collection, place, of(OF_COLLECTIONS));
  at(`${collection}/{name}`, [inPath('name'), ...place], of(OF_OBJECTS));
  if (isNamespaced) at(`${base}/${plural}`, [], of(['list']));
  for (const part of resource.subresources.values())
    at(
      `${collection}/{name}/${part.name}`,
      [inPath('name'), ...place],
      partOperations(definitions, resource, part, names),
    );
}

function partOperations(
  definitions: Definitions,
  resource: ApiResource,
  part: Subresource,
  names: KindNames,
): Definition {
  const { kind = resource.kind } = part;
  // Subresources with another kind of the core group omit that group.
  const { group = '', version = '' } = part.version ? part : resource;
  if (kind === resource.kind) return operationsOf(definitions, resource, part.verbs, names, part.name);
  const module = `${group === '' ? 'core' : group.split('.', 1)[0]}-${version}`;
  const own = addDefinition(definitions, `${module}.${kind}`);
  mark(definitions.get(own), group, version, kind);
  const shown = { ...resource, group, version, kind };
  return operationsOf(definitions, shown, part.verbs, { kind: own, list: own }, part.name);
}

function operationsOf(
  definitions: Definitions,
  { group, version, kind, scope, schema }: ApiResource,
  verbs: readonly Verb[],
  names: KindNames,
  part = '',
): Definition {
  const operations: Definition = {};
  for (const verb of verbs) {
    const known = ACTIONS[verb];
    if (!known) continue;
    const owner = (group || 'core').split('.').map(capital).join('');
    const where = scope === 'Namespaced' ? 'Namespaced' : '';
    operations[known.method] = {
      operationId: `${known.id}${owner}${capital(version)}${where}${kind}${capital(part)}`,
      parameters: known.parameters,
      requestBody: requestBody(definitions, verb, names, schema !== undefined),
      responses: { 200: { description: 'OK', content: content(verb === 'list' ? names.list : names.kind) } },
      'x-kubernetes-action': known.action,
      'x-kubernetes-group-version-kind': { group, version, kind },
    };
  }
  return operations;
}

function requestBody(
  definitions: Definitions,
  verb: Verb,
  names: KindNames,
  isBuiltIn: boolean,
): Definition | undefined {
  switch (verb) {
    case 'create':
    case 'update':
      return { content: { '*/*': { schema: refTo(names.kind) } }, required: true };
    case 'patch': {
      definitions.set(PATCH, { type: 'object' });
      const schema = refTo(PATCH);
      const types = isBuiltIn ? PATCHES : PATCHES.filter((type) => !type.includes('strategic'));
      return { content: Object.fromEntries(types.map((type) => [type, { schema }])), required: true };
    }
    case 'delete':
    case 'deletecollection':
      return { content: { '*/*': { schema: refTo(addDefinition(definitions, 'meta-v1.DeleteOptions')) } } };
    default:
      return undefined;
  }
}

function content(name: string): Definition {
  return { 'application/json': { schema: refTo(name) } };
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
