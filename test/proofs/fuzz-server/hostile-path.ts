import { integerBelow, pick, type Random } from '@bowline/machinery';
import { chance, glued, hostileText } from './hostile-texts.ts';

const SEGMENTS = [
  'api',
  'apis',
  'v1',
  'apps',
  'namespaces',
  'fuzz-0',
  'configmaps',
  'secrets',
  'pods',
  'widgets',
  'proof.bowline.dev',
  'sample',
  'status',
  'scale',
  'log',
  'eviction',
  'token',
  'binding',
  'watch',
  'proxy',
  'openapi',
  'v3',
  'version',
  'healthz',
  '..',
  '.',
  '',
  '%2e%2e',
  '%2f',
  '%00',
  '%',
  '%zz',
  '%c0%af',
  '__proto__',
  'constructor',
];

/** hostilePath returns a path of matching or random segments. */
export function hostilePath(random: Random): string {
  const segments = Array.from({ length: integerBelow(random, 8) }, () =>
    chance(random, 0.85) ? pick(random, SEGMENTS) : encodeURIComponent(lossless(hostileText(random))),
  );
  const path = `/${segments.join('/')}`;
  if (chance(random, 0.03))
    return pick(random, [`//${path}`, `http://other.example${path}`, path.slice(1), `${path}#x`, `\\${path}`]);
  return path;
}

const SELECTOR_TOKENS = [
  'a',
  'app',
  'sample',
  '=',
  '==',
  '!=',
  '!',
  ',',
  ' in ',
  ' notin ',
  '(',
  ')',
  ' ',
  '/',
  '.',
  '\\',
  '>',
  '<',
  '1',
  'metadata.name',
  'metadata.namespace',
  'spec.color',
  'type',
  'é',
  '"',
];

const VALUES: Readonly<Record<string, readonly string[]>> = {
  limit: ['0', '1', '2', '500', '-1', 'x', '99999999999999999999', '1.5', ''],
  continue: ['x', '', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0', '%ff', 'e30', 'bnVsbA', 'W10'],
  resourceVersion: ['0', '1', '', 'x', '-1', '99999999999999999999', '1e3', '0x1'],
  resourceVersionMatch: ['Exact', 'NotOlderThan', 'x', ''],
  watch: ['true', 'false', '1', 'x', ''],
  allowWatchBookmarks: ['true', 'false', '1', 'x'],
  sendInitialEvents: ['true', 'false', 'x', ''],
  timeoutSeconds: ['1', '0', '-1', 'x', '1e99', '99999999999'],
  timeout: ['1s', 'x', '-1s', '1e9h', '5'],
  dryRun: ['All', 'x', '', 'All,All'],
  fieldManager: ['me', '', '\u0000', 'x'.repeat(129), 'é', '__proto__'],
  fieldValidation: ['Strict', 'Warn', 'Ignore', 'x', ''],
  force: ['true', 'false', 'x'],
  pretty: ['true', 'false', 'x'],
  gracePeriodSeconds: ['0', '1', '-1', 'x', '1e30'],
  propagationPolicy: ['Foreground', 'Background', 'Orphan', 'x'],
  orphanDependents: ['true', 'false', 'x'],
  includeObject: ['None', 'Metadata', 'Object', 'x'],
  shardSelector: ['x'],
  container: ['main', 'x', ''],
  tailLines: ['1', '-1', 'x'],
  hash: ['x', 'ABC'],
};

/** hostileQuery returns a query with its question mark, or nothing. */
export function hostileQuery(random: Random): string {
  const names = Object.keys(VALUES);
  const parameters = Array.from({ length: integerBelow(random, 4) }, () => {
    const share = random.next();
    if (share < 0.15) return `labelSelector=${encodeURIComponent(glued(random, SELECTOR_TOKENS, 12))}`;
    if (share < 0.3) return `fieldSelector=${encodeURIComponent(glued(random, SELECTOR_TOKENS, 8))}`;
    if (share < 0.35) return `${hostileTextEncoded(random)}=${hostileTextEncoded(random)}`;
    if (share < 0.37) return glued(random, ['%', '&', '=', '+', ';', 'a', '%zz'], 6);
    const name = pick(random, names);
    const value = chance(random, 0.9) ? pick(random, VALUES[name] ?? ['']) : lossless(hostileText(random));
    return `${name}=${encodeURIComponent(value)}`;
  });
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`;
}

function hostileTextEncoded(random: Random): string {
  return encodeURIComponent(lossless(hostileText(random)));
}

/** Half of a surrogate pair cannot be written in a URL. */
function lossless(text: string): string {
  return Buffer.from(text).toString();
}

const ACCEPTS = [
  'application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;as=Table;v=v9;g=meta.k8s.io',
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/vnd.kubernetes.protobuf',
  'application/yaml',
  'application/cbor',
  '*/*',
  'text/html',
  ';;;',
  ',,,',
  'application/json;q=0',
  'application/json;q=x',
  'a'.repeat(10_000),
];

/** hostileHeaders returns headers in addition to those of the body. */
export function hostileHeaders(random: Random): Record<string, string> {
  const headers: Record<string, string> = {};
  if (chance(random, 0.3)) headers.accept = pick(random, ACCEPTS);
  if (chance(random, 0.1)) headers['user-agent'] = hostileText(random);
  if (chance(random, 0.03))
    headers.authorization = pick(random, [
      'Bearer x',
      'Bearer ',
      'Basic eDp5',
      `Bearer ${jwt(random)}`,
      hostileText(random),
    ]);
  if (chance(random, 0.03))
    headers['impersonate-user'] = pick(random, [
      'somebody',
      '',
      'system:anonymous',
      'system:serviceaccount:fuzz-0:default',
      hostileText(random),
    ]);
  if (chance(random, 0.02)) headers['impersonate-group'] = pick(random, ['system:masters', '', hostileText(random)]);
  if (chance(random, 0.01)) headers['impersonate-extra-%zz'] = 'x';
  if (chance(random, 0.02)) headers['if-none-match'] = pick(random, ['*', '"x"', hostileText(random)]);
  if (chance(random, 0.03)) headers['content-type'] = pick(random, ['text/plain', ';', '', hostileText(random)]);
  if (chance(random, 0.02))
    headers[
      pick(random, ['__proto__', 'constructor', 'content-encoding', 'content-length', 'x-http-method-override'])
    ] = hostileText(random);
  return headers;
}

function jwt(random: Random): string {
  const part = (): string =>
    Buffer.from(
      pick(random, ['{}', '{"alg":"none"}', '{"alg":"RS256","kid":"x"}', 'null', hostileText(random)]),
    ).toString('base64url');
  return `${part()}.${part()}.${part()}`;
}
