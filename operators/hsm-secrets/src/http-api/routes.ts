import { secretPathProblem } from '../api/secret-path.ts';
import { API_PREFIX, type ApiCall, type ApiResult, type ApiTools, AUDIENCE } from './api-call.ts';
import { ApiProblem, invalid } from './api-problem.ts';
import { changePin } from './change-pin.ts';
import { readInfo, readStatus, retryPin, syncMirrors } from './device-state.ts';
import { listSecrets, readChecksum, readMetadata, readSecret } from './read-secrets.ts';
import { createSecret, deleteSecret, replaceSecret } from './write-secrets.ts';

/** Route is a kind of request: the permission that it needs, and how it is answered. */
export interface Route {
  /** The verb that the caller needs on the HSMDevice. */
  readonly verb: 'get' | 'list' | 'create' | 'update' | 'delete';
  /** The subresource that the verb is for. Undefined: the HSMDevice itself. */
  readonly part?: 'secrets' | 'pin' | 'mirror';
  /** The query parameters that it takes besides `device`. */
  readonly parameters?: readonly string[];
  readonly hasBody?: boolean;
  /** Whether only the leader can answer it. */
  readonly leaderOnly?: boolean;
  readonly run: (call: ApiCall, tools: ApiTools) => Promise<ApiResult>;
}

/** MatchedRoute is a route with what its request names. */
export interface MatchedRoute {
  readonly route: Route;
  /** The path of the secret; empty for requests about none. */
  readonly path: string;
  readonly query: ReadonlyMap<string, string>;
}

type Methods = Readonly<Partial<Record<string, Route>>>;

const pin = { verb: 'update', part: 'pin', hasBody: true, leaderOnly: true } as const;

const FIXED: ReadonlyMap<string, Methods> = new Map<string, Methods>([
  ['hsm/secrets', { GET: { verb: 'list', part: 'secrets', parameters: ['prefix'], run: listSecrets } }],
  ['hsm/info', { GET: { verb: 'get', run: readInfo } }],
  ['hsm/status', { GET: { verb: 'get', run: readStatus } }],
  ['hsm/change-pin', { POST: { ...pin, run: changePin } }],
  ['hsm/retry-pin', { POST: { ...pin, run: retryPin } }],
  ['hsm/mirror/sync', { POST: { verb: 'update', part: 'mirror', hasBody: true, leaderOnly: true, run: syncMirrors } }],
]);

const SECRET: Methods = {
  GET: { verb: 'get', part: 'secrets', run: readSecret },
  POST: { verb: 'create', part: 'secrets', hasBody: true, run: createSecret },
  PUT: { verb: 'update', part: 'secrets', hasBody: true, run: replaceSecret },
  DELETE: { verb: 'delete', part: 'secrets', parameters: ['key'], run: deleteSecret },
};

const SECRET_VIEWS: ReadonlyMap<string, Methods> = new Map<string, Methods>([
  ['metadata', { GET: { verb: 'get', part: 'secrets', run: readMetadata } }],
  ['checksum', { GET: { verb: 'get', part: 'secrets', run: readChecksum } }],
]);

const SECRETS = 'hsm/secrets/';

/** HEALTH is the path that returns whether the server runs, to everybody. */
export const HEALTH = 'health';

/**
 * matchRoute finds the route of a request. A path of a secret can be written as one segment (`db%2Fmetadata`), so that
 * its last part is not taken for a view.
 */
export function matchRoute(method: string, url: string): MatchedRoute | typeof HEALTH {
  const [location = '', search = ''] = url.split('?', 2);
  const name = location.startsWith(API_PREFIX) ? location.slice(API_PREFIX.length) : '';
  if (name === HEALTH) return routeOf({ GET: HEALTH } as const, method);
  if (name === 'auth/token') throw gone();
  const fixed = FIXED.get(name);
  if (fixed) return matched(routeOf(fixed, method), '', search);
  if (!name.startsWith(SECRETS)) throw notFound();
  const segments = name.slice(SECRETS.length).split('/');
  const view = segments.length > 1 ? SECRET_VIEWS.get(segments.at(-1) ?? '') : undefined;
  const path = (view ? segments.slice(0, -1) : segments).map(decode).join('/');
  const problem = secretPathProblem(path);
  if (problem !== undefined) throw invalid(`the path of the secret ${problem}`);
  return matched(routeOf(view ?? SECRET, method), path, search);
}

function routeOf<R>(methods: Readonly<Partial<Record<string, R>>>, method: string): R {
  const route = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (route !== undefined) return route;
  const allow = Object.keys(methods);
  const message = `the method is not supported here; use ${allow.join(', ')}`;
  throw new ApiProblem(405, 'validation_failed', message, { allow });
}

/** An unknown parameter is an error: `?Key=a` must not delete the whole secret. */
function matched(route: Route, path: string, search: string): MatchedRoute {
  const known = ['device', ...(route.parameters ?? [])];
  const query = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(search)) {
    if (!known.includes(name) || query.has(name)) {
      const what = query.has(name) ? 'is there more than once' : `is not known; known are ${known.join(', ')}`;
      throw invalid(`the query parameter ${JSON.stringify(name.slice(0, 64))} ${what}`);
    }
    query.set(name, value);
  }
  const prefix = query.get('prefix');
  const problem = prefix ? secretPathProblem(prefix) : undefined;
  if (problem !== undefined) throw invalid(`the query parameter prefix ${problem}`);
  if (query.get('key') === '') throw invalid('the query parameter key is empty; omit it to delete the whole secret');
  return { route, path, query };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid('the path of the secret is not valid percent-encoding');
  }
}

function notFound(): ApiProblem {
  return new ApiProblem(
    404,
    'validation_failed',
    `there is nothing at this path; requests begin with ${API_PREFIX}hsm/`,
  );
}

function gone(): ApiProblem {
  const message = `tokens are not exchanged: send a token of a ServiceAccount for the audience ${AUDIENCE} with each request, as "Authorization: Bearer"; get one with kubectl create token ACCOUNT --audience ${AUDIENCE}`;
  return new ApiProblem(410, 'validation_failed', message, { details: { audience: AUDIENCE } });
}
