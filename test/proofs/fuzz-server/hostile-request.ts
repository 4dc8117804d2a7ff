import { integerBelow, pick, type Random } from '@bowline/machinery';
import { SAMPLES, type Sample } from '../../support/sample-objects.ts';
import { type Body, hostileBody } from './hostile-body.ts';
import { hostileDefinition } from './hostile-definition.ts';
import { hostilePatch } from './hostile-patch.ts';
import { hostileHeaders, hostilePath, hostileQuery } from './hostile-path.ts';
import { chance, hostileText } from './hostile-texts.ts';
import { anyValue, changed } from './hostile-value.ts';

/** HostileRequest is one request. */
export interface HostileRequest {
  readonly family: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

/** NAMESPACES are the namespaces of written objects. */
export const NAMESPACES = ['fuzz-0', 'fuzz-1'];

/** DEFINITIONS is the path of CustomResourceDefinitions. */
export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** The first is used most often, so that there is something to change. */
const NAMES = ['sample', 'sample', 'sample', 'other'];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const REVIEWS = [
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  '/apis/authorization.k8s.io/v1/subjectaccessreviews',
  '/apis/authorization.k8s.io/v1/namespaces/fuzz-0/localsubjectaccessreviews',
  '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
  '/apis/authentication.k8s.io/v1/tokenreviews',
  '/apis/authentication.k8s.io/v1/selfsubjectreviews',
  '/api/v1/namespaces/fuzz-0/serviceaccounts/default/token',
  '/api/v1/namespaces/fuzz-0/pods/sample/eviction',
  '/api/v1/namespaces/fuzz-0/pods/sample/binding',
];

/** The weights add up to 100. */
const FAMILIES: readonly (readonly [
  weight: number,
  family: string,
  make: (random: Random) => Omit<HostileRequest, 'family'>,
])[] = [
  [36, 'object', objectRequest],
  [22, 'patch', patchRequest],
  [14, 'read', readRequest],
  [4, 'delete', deleteRequest],
  [9, 'definition', definitionRequest],
  [4, 'custom', customRequest],
  [7, 'path', pathRequest],
  [4, 'review', reviewRequest],
];

/** hostileRequest returns a request that a malicious or faulty client might send. */
export function hostileRequest(random: Random): HostileRequest {
  let share = random.next() * 100;
  for (const [weight, family, make] of FAMILIES) {
    if (share < weight) {
      const { headers, ...request } = make(random);
      return { family, ...request, headers: { ...headers, ...hostileHeaders(random) } };
    }
    share -= weight;
  }
  return { family: 'read', ...readRequest(random) };
}

function placeOf(
  random: Random,
  sample: Sample,
): { readonly collection: string; readonly name: string; readonly part: string } {
  const name = chance(random, 0.9)
    ? pick(random, NAMES)
    : encodeURIComponent(Buffer.from(hostileText(random)).toString());
  const part = sample.subresources.length > 0 && chance(random, 0.2) ? `/${pick(random, sample.subresources)}` : '';
  return { collection: sample.path.replace('NS', pick(random, NAMESPACES)), name, part };
}

/** The effect of webhooks on other requests is tested elsewhere: here they are only dry-run. */
function queryFor(random: Random, sample: Sample): string {
  return sample.kind.endsWith('WebhookConfiguration') ? '?dryRun=All' : hostileQuery(random);
}

function sent(
  request: Omit<HostileRequest, 'family' | 'headers' | 'body'>,
  body: Body,
): Omit<HostileRequest, 'family'> {
  return { ...request, headers: { 'content-type': body.contentType }, body: body.content };
}

function objectRequest(random: Random): Omit<HostileRequest, 'family'> {
  const sample = pick(random, SAMPLES);
  const { collection, name, part } = placeOf(random, sample);
  const object = { ...sample.object, metadata: { ...sample.object.metadata, name: pick(random, NAMES) } };
  // Sometimes a valid one, so that there is something to change.
  const value = chance(random, 0.4) ? object : chance(random, 0.95) ? changed(random, object) : anyValue(random);
  const isCreate = chance(random, 0.6);
  const path = isCreate ? collection : `${collection}/${name}${part}`;
  return sent({ method: isCreate ? 'POST' : 'PUT', path: path + queryFor(random, sample) }, hostileBody(random, value));
}

function patchRequest(random: Random): Omit<HostileRequest, 'family'> {
  const sample = pick(random, SAMPLES);
  const { collection, name, part } = placeOf(random, sample);
  const body = hostilePatch(random, sample.object);
  const manager =
    body.contentType.startsWith('application/apply') && chance(random, 0.9) ? 'fieldManager=me&force=true' : '';
  const query = queryFor(random, sample);
  const path = `${collection}/${name}${part}${manager === '' ? query : `?${manager}${query.replace('?', '&')}`}`;
  return sent({ method: 'PATCH', path }, body);
}

function readRequest(random: Random): Omit<HostileRequest, 'family'> {
  const { collection, name, part } = placeOf(random, pick(random, SAMPLES));
  const path = chance(random, 0.6) ? collection : `${collection}/${name}${part}`;
  return { method: 'GET', path: path + hostileQuery(random), headers: {} };
}

function deleteRequest(random: Random): Omit<HostileRequest, 'family'> {
  const sample = pick(random, SAMPLES);
  const { collection, name } = placeOf(random, sample);
  const path = (chance(random, 0.02) ? collection : `${collection}/${name}`) + queryFor(random, sample);
  if (chance(random, 0.5)) return { method: 'DELETE', path, headers: {} };
  const options = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: 'Background',
    gracePeriodSeconds: 0,
    preconditions: { uid: 'x' },
  };
  return sent({ method: 'DELETE', path }, hostileBody(random, changed(random, options)));
}

function definitionRequest(random: Random): Omit<HostileRequest, 'family'> {
  const definition = hostileDefinition(random);
  const name = `hostiles${integerBelow(random, 4)}.proof.bowline.dev`;
  const share = random.next();
  if (share < 0.15) return { method: 'DELETE', path: `${DEFINITIONS}/${name}`, headers: {} };
  if (share < 0.25) return sent({ method: 'PATCH', path: `${DEFINITIONS}/${name}` }, hostilePatch(random, definition));
  const body: Body = chance(random, 0.9)
    ? { contentType: 'application/json', content: JSON.stringify(definition) }
    : hostileBody(random, definition);
  return sent({ method: 'POST', path: DEFINITIONS + (chance(random, 0.4) ? '?dryRun=All' : '') }, body);
}

/** Objects of the kinds that were just defined. */
function customRequest(random: Random): Omit<HostileRequest, 'family'> {
  const number = integerBelow(random, 4);
  const path = `/apis/proof.bowline.dev/v1/namespaces/fuzz-0/hostiles${number}`;
  const object = {
    apiVersion: 'proof.bowline.dev/v1',
    kind: `Hostile${number}`,
    metadata: { name: pick(random, NAMES) },
    spec: anyValue(random),
  };
  const method = pick(random, ['GET', 'POST', 'PUT', 'PATCH']);
  if (method === 'GET') return { method, path: path + hostileQuery(random), headers: {} };
  const place = method === 'POST' ? path : `${path}/${object.metadata.name}`;
  return sent({ method, path: place }, method === 'PATCH' ? hostilePatch(random, object) : hostileBody(random, object));
}

function pathRequest(random: Random): Omit<HostileRequest, 'family'> {
  const method = chance(random, 0.9)
    ? pick(random, METHODS)
    : pick(random, ['HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'get', 'X', '']);
  const path = hostilePath(random) + hostileQuery(random);
  return method === 'GET'
    ? { method, path, headers: {} }
    : sent({ method, path }, hostileBody(random, anyValue(random)));
}

function reviewRequest(random: Random): Omit<HostileRequest, 'family'> {
  const spec = {
    user: 'somebody',
    groups: ['a'],
    extra: { a: ['b'] },
    resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'fuzz-0', fieldSelector: { rawSelector: 'a=b' } },
    nonResourceAttributes: { path: '/x', verb: 'get' },
    token: 'x',
    audiences: ['x'],
    expirationSeconds: 600,
    namespace: 'fuzz-0',
  };
  const part = Object.fromEntries(Object.entries(spec).filter(() => chance(random, 0.5)));
  const body = {
    spec: chance(random, 0.5) ? part : changed(random, part),
    metadata: { name: 'sample' },
    target: { kind: 'Node', name: 'x' },
  };
  return sent({ method: 'POST', path: pick(random, REVIEWS) }, hostileBody(random, body));
}
