/** Verb is the action of a request, as named in RBAC rules and audit logs. */
export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  /** For paths that are not resources: the method in lower case. */
  | 'post'
  | 'put'
  | 'head'
  | 'options';

/** ResourceRequest is a request about objects. */
export interface ResourceRequest {
  readonly isResource: true;
  readonly path: string;
  readonly verb: Verb;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty for cluster-scoped kinds and for requests across namespaces. */
  readonly namespace: string;
  /** Empty for collections, unless a field selector names one of their objects. */
  readonly name: string;
}

/** OtherRequest is a request about the server itself. */
export interface OtherRequest {
  readonly isResource: false;
  readonly path: string;
  readonly verb: Verb;
}

/** RequestInfo describes a request, by its method, path and query alone. */
export type RequestInfo = ResourceRequest | OtherRequest;

/** readUrl splits the target of a request; it returns undefined if it is not a path, or has invalid escapes. */
export function readUrl(url: string): { readonly path: string; readonly query: URLSearchParams } | undefined {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  if (!path.startsWith('/')) return undefined;
  try {
    return { path: decodeURIComponent(path), query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)) };
  } catch {
    return undefined;
  }
}

/** requestInfo parses a request line; missing segments of a resource path are empty. */
export function requestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const other: OtherRequest = { isResource: false, path, verb: method.toLowerCase() as Verb };
  const [root, ...rest] = (path.endsWith('/') ? path.slice(1, -1) : path.slice(1)).split('/');
  if (root !== 'api' && root !== 'apis') return other;
  if (rest.includes('')) return other;
  const group = root === 'api' ? '' : rest.shift();
  const version = rest.shift();
  if (group === undefined || version === undefined || rest.length === 0) return other;
  // Older clients request a watch by the path.
  const isWatchPath = rest[0] === 'watch' && rest.length > 1;
  const parts = isWatchPath ? rest.slice(1) : rest;

  let namespace = '';
  let [resource = '', name = '', ...below] = parts;
  if (resource === 'namespaces' && name !== '') {
    namespace = name;
    const [inside] = below;
    // `namespaces/a/status` and `namespaces/a/finalize` are subresources of the Namespace itself.
    if (inside !== undefined && inside !== 'status' && inside !== 'finalize') {
      [resource = '', name = '', ...below] = below;
    }
  }
  const subresource = below.join('/');
  const wantsWatch = isWatchPath || isTrue(query.get('watch'));
  const verb = verbOf(method, name, wantsWatch, isWatchPath);
  // A list or watch of one object by its name is a request for that object: a right to it alone is enough.
  if (name === '' && (verb === 'list' || verb === 'watch')) name = selectedName(query.get('fieldSelector') ?? '');
  return { isResource: true, path, verb, group, version, resource, subresource, namespace, name };
}

/** selectedName returns the name that a field selector requires; empty if it requires none. */
function selectedName(fieldSelector: string): string {
  for (const term of fieldSelector.split(',')) {
    const [, name] = /^metadata\.name={1,2}([^\\/%]+)$/.exec(term.trim()) ?? [];
    if (name !== undefined && name !== '.' && name !== '..') return name;
  }
  return '';
}

/** isTrue parses a boolean query parameter as the API server does: everything but an explicit false is true. */
export function isTrue(value: string | null): boolean {
  return value !== null && !['', 'false', '0', 'f', 'F', 'False', 'FALSE'].includes(value);
}

function verbOf(method: string, name: string, wantsWatch: boolean, isWatchPath: boolean): Verb {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete';
    case 'GET':
      // A path that names an object is watched only through the older watch paths.
      if (name !== '') return isWatchPath ? 'watch' : 'get';
      return wantsWatch ? 'watch' : 'list';
    default:
      return method.toLowerCase() as Verb;
  }
}
