import { integerBelow, pick, type Random } from '@bowline/machinery';

/** PROVIDERS lists the names of the existing providers. */
export const PROVIDERS = ['aws-secretsmanager', 'vault', 'azure-keyvault', 'kubernetes', 'mock'];

/** chance returns true with the given probability. */
export function chance(random: Random, share: number): boolean {
  return random.next() < share;
}

/** Valid and invalid texts in place of a name. */
const NAMES = [
  'db',
  'app-credentials',
  'a.b.c',
  '0',
  'a'.repeat(253),
  'a'.repeat(254),
  `${'a'.repeat(63)}.b`,
  `${'a'.repeat(64)}.b`,
  'a..b',
  '.a',
  'a.',
  '-a',
  'a-',
  'A',
  'a_b',
  'a b',
  'ä',
  'a\n',
  'a/b',
  '..',
  '',
];

const KEYS = [
  'DB_PASSWORD',
  'tls.crt',
  'tls.key',
  'username',
  'password',
  'ssh-privatekey',
  '.dockerconfigjson',
  '.dockercfg',
  'login.password',
  '__proto__',
  'constructor',
  'a'.repeat(253),
  'a'.repeat(254),
  '.',
  '..',
  '..x',
  '...',
  'a..b',
  'a b',
  'a/b',
  'ä',
  '\u0000',
  'a\n',
  '',
];

const TYPES = [
  'Opaque',
  'kubernetes.io/tls',
  'kubernetes.io/basic-auth',
  'kubernetes.io/ssh-auth',
  'kubernetes.io/dockerconfigjson',
  'kubernetes.io/dockercfg',
  'kubernetes.io/service-account-token',
  'bootstrap.kubernetes.io/token',
  'example.com/x',
  'x',
  'a b',
  'a/b/c',
  '/',
  '',
  'Opaque\n',
  'kubernetes.io/TLS',
  'x'.repeat(300),
];

const PATHS = [
  '/prod/db',
  'secret/data/api',
  'arn:aws:secretsmanager:eu-central-1:123456789012:secret:db-AbCdEf',
  'team/db',
  'a/../b',
  ' ',
  'x'.repeat(2048),
  'x'.repeat(2049),
  '😀'.repeat(1024),
  'a\u0000b',
  'a\r\nb: c',
  '\ud800',
  '\u2028',
  '\u200b',
  '',
];

const DURATIONS = [
  '0',
  '0s',
  '1m',
  '59s',
  '1h30m',
  '8760h',
  '8761h',
  '-1h',
  '1d',
  '1e9h',
  '9999999999h',
  '1m1',
  '\u00b5s',
  '',
];

const TEMPLATES = [
  'plain',
  '{{ data.username }}',
  'db://{{ data.username }}:{{ data["password"] }}@x',
  '{"auths":{"x":{"auth":"{{ data.password }}"}}}',
  '{{ data.missing }}',
  '{{ has(data.x) ? data.x : "none" }}',
  '{{ int(data.n) + 1 }}',
  '{{ data.map(k, k).join(",") }}',
  '{{ ',
  '{{ }}',
  '{{ nothing }}',
  '{{ data }}',
  '{{ "}}" }}',
  '{{ data.x.matches("(a+)+$") }}',
  '{{ "a".matches("(") }}',
  `{{ "a".matches("${'a{1000}'.repeat(15)}") }}`,
  `{{ "a".matches("${'a{1000}'.repeat(900)}") }}`,
  `{{ "a".matches([${'1,'.repeat(300)}1].map(a, "a{1000}").join("")) }}`,
  `{{ ${'('.repeat(500)}1${')'.repeat(500)} }}`,
  `{{ ${'!'.repeat(2_000)}true }}`,
  `{{ ${'[1].map(a, '.repeat(40)}1${')'.repeat(40)}.size() }}`,
  '{{ 1 }}'.repeat(30),
  '{{ cel.bind(a, "x", a + a) }}',
  '{{ data.x // comment }}',
  '',
];

const ODD: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  1e300,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  12345678901234567890n,
  [],
  {},
  [[]],
  '',
  ' ',
  'null',
  'true',
  '0',
  '~',
  '2026-01-01',
  [null],
  { a: null },
];

const ENUMS: Readonly<Record<string, readonly string[]>> = {
  missingKeyPolicy: ['Fail', 'Ignore'],
  format: ['json', 'raw', 'binary'],
  decode: ['None', 'Base64', 'Base64URL', 'Auto'],
  creationPolicy: ['Create', 'Merge', 'CreateOrMerge'],
  deletionPolicy: ['Retain', 'Delete'],
};

/** name returns a name for a Secret, mostly a valid one. */
function name(random: Random): string {
  return chance(random, 0.9) ? `${pick(random, ['db', 'api', 'x'])}-${integerBelow(random, 50)}` : pick(random, NAMES);
}

function key(random: Random): string {
  return chance(random, 0.9) ? pick(random, KEYS.slice(0, 12)) : pick(random, KEYS);
}

function many<T>(random: Random, most: number, make: () => T): T[] {
  return Array.from({ length: integerBelow(random, most + 1) }, make);
}

const MAKERS: Readonly<Record<string, (random: Random) => unknown>> = {
  provider: (random) =>
    chance(random, 0.97) ? pick(random, PROVIDERS) : pick(random, ['gcp', '', 'toString', 'MOCK']),
  path: (random) => (chance(random, 0.9) ? pick(random, PATHS.slice(0, 4)) : pick(random, PATHS)),
  secretName: name,
  keys: (random) =>
    chance(random, 0.5)
      ? [...new Set(many(random, 5, () => key(random)))]
      : Object.fromEntries(many(random, 5, () => [key(random), key(random)])),
  optionalKeys: (random) => many(random, 3, () => key(random)),
  versionStage: (random) => pick(random, ['AWSCURRENT', 'AWSPREVIOUS', 'a\u0007', 'x'.repeat(257)]),
  versionId: (random) => pick(random, ['1', '3f8c8eee-bb9a-50c2', '']),
  type: (random) => (chance(random, 0.6) ? pick(random, TYPES.slice(0, 6)) : pick(random, TYPES)),
  key,
  template: (random) => Object.fromEntries(many(random, 3, () => [key(random), pick(random, TEMPLATES)])),
  refreshInterval: (random) => pick(random, DURATIONS),
  immutable: (random) => chance(random, 0.5),
  region: (random) => pick(random, ['eu-central-1', 'us-east-1', 'EU', 'a.b', 'x/y', 'x'.repeat(64)]),
  role: (random) => pick(random, ['arn:aws:iam::123456789012:role/x', 'r', '']),
  restart: (random) => chance(random, 0.5),
  ...Object.fromEntries(
    Object.entries(ENUMS).map(([field, values]) => [field, (random: Random) => pick(random, values)]),
  ),
};

const OPTIONAL = Object.keys(MAKERS).filter((field) => !['provider', 'path', 'secretName', 'key'].includes(field));

/** randomEntry returns one entry: most are valid, the others invalid in one or two ways. */
export function randomEntry(random: Random): Record<string, unknown> {
  const fields = ['provider', 'path', 'secretName', ...OPTIONAL.filter(() => chance(random, 0.12))];
  const entry: Record<string, unknown> = {};
  for (const field of fields) entry[field] = MAKERS[field]?.(random);
  if (entry.format === 'raw' || entry.format === 'binary' || chance(random, 0.03)) {
    entry.key = key(random);
    if (chance(random, 0.8)) entry.keys = entry.optionalKeys = undefined;
  }
  if (chance(random, 0.7) && entry.immutable === true) entry.creationPolicy = entry.refreshInterval = undefined;
  if (chance(random, 0.04)) entry[pick(random, Object.keys(MAKERS))] = pick(random, ODD);
  if (chance(random, 0.02)) entry[pick(random, ['namespace', 'Path', 'x', '__proto__', '<<', ''])] = pick(random, ODD);
  if (chance(random, 0.02)) entry[pick(random, fields)] = undefined;
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
}

/** randomAnnotation returns an annotation before serialization. */
export function randomAnnotation(random: Random): unknown {
  if (chance(random, 0.02)) return pick(random, ODD);
  if (chance(random, 0.6)) return randomEntry(random);
  const secrets = many(random, chance(random, 0.05) ? 25 : 3, () =>
    chance(random, 0.03) ? pick(random, ODD) : randomEntry(random),
  );
  return chance(random, 0.03) ? { secrets, ...randomEntry(random) } : { secrets };
}
