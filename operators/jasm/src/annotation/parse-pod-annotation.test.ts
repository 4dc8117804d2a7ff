import { describe, expect, test } from 'vitest';
import { MAX_SECRETS, parsePodAnnotation } from './parse-pod-annotation.ts';
import type { SecretSyncRequest } from './secret-sync-request.ts';

const KNOWN = ['aws-secretsmanager', 'vault', 'mock'];
const BASE = 'provider: mock\npath: /app/db\nsecretName: db\n';

const parse = (text: string) => parsePodAnnotation(text, KNOWN);
const messages = (text: string): string[] => parse(text).problems.map(({ reason, message }) => `${reason}: ${message}`);

function request(text: string): SecretSyncRequest {
  const { requests, problems } = parse(text);
  expect(problems).toEqual([]);
  const [only] = requests;
  if (only === undefined || requests.length !== 1) throw new Error(`${requests.length} requests`);
  return only;
}

describe('a valid annotation', () => {
  test('requests one secret with three fields; all other fields have defaults', () => {
    expect(request(BASE)).toEqual({
      field: '',
      provider: 'mock',
      path: '/app/db',
      secretName: 'db',
      keys: undefined,
      optionalKeys: [],
      missingKeyPolicy: 'Fail',
      versionStage: undefined,
      versionId: undefined,
      type: 'Opaque',
      format: 'json',
      key: undefined,
      decode: 'None',
      template: undefined,
      creationPolicy: 'Create',
      deletionPolicy: 'Retain',
      refreshIntervalMs: 0,
      immutable: false,
      region: undefined,
      role: undefined,
      restart: undefined,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
  });

  test('may be JSON, or contain tabs, a byte order mark, a document marker or CRLF line endings', () => {
    const { hash } = request(BASE);
    for (const text of [
      '{"provider":"mock","path":"/app/db","secretName":"db"}',
      '{\n\t"provider": "mock",\n\t"path": "/app/db",\n\t"secretName": "db"\n}',
      `\ufeff${BASE}`,
      `---\n${BASE}...\n`,
      BASE.replaceAll('\n', '\r\n'),
      `# which\n${BASE}`,
    ])
      expect(request(text).hash).toBe(hash);
  });

  test('may use every field', () => {
    expect(
      request(`
provider: aws-secretsmanager
path: arn:aws:secretsmanager:eu-central-1:123456789012:secret:db-AbCdEf
secretName: db.credentials
keys:
  user: username
  password: login.password
  port: port
optionalKeys: [port]
missingKeyPolicy: Ignore
versionStage: AWSPREVIOUS
type: example.com/database
decode: Auto
template:
  url: postgres://{{ data.user }}:{{ data.password }}@db
creationPolicy: CreateOrMerge
deletionPolicy: Delete
refreshInterval: 1h30m
region: eu-central-1
role: arn:aws:iam::123456789012:role/reader
restart: false
`),
    ).toMatchObject({
      keys: [
        { target: 'user', source: 'username' },
        { target: 'password', source: 'login.password' },
        { target: 'port', source: 'port' },
      ],
      optionalKeys: ['port'],
      missingKeyPolicy: 'Ignore',
      versionStage: 'AWSPREVIOUS',
      type: 'example.com/database',
      decode: 'Auto',
      template: { url: 'postgres://{{ data.user }}:{{ data.password }}@db' },
      creationPolicy: 'CreateOrMerge',
      deletionPolicy: 'Delete',
      refreshIntervalMs: 5_400_000,
      region: 'eu-central-1',
      role: 'arn:aws:iam::123456789012:role/reader',
      restart: false,
    });
  });

  test.each<[text: string, expected: Partial<SecretSyncRequest>]>([
    [
      'keys: [a.b, c]',
      {
        keys: [
          { target: 'a.b', source: 'a.b' },
          { target: 'c', source: 'c' },
        ],
      },
    ],
    ['keys: {__proto__: x}', { keys: [{ target: '__proto__', source: 'x' }] }],
    ['format: raw\nkey: token', { format: 'raw', key: 'token' }],
    ['format: binary\nkey: keystore.p12', { format: 'binary', key: 'keystore.p12' }],
    ['versionId: "7"', { versionId: '7' }],
    ['refreshInterval: 0', { refreshIntervalMs: 0 }],
    ['refreshInterval: "0"', { refreshIntervalMs: 0 }],
    ['refreshInterval: 1m', { refreshIntervalMs: 60_000 }],
    ['refreshInterval: 8760h', { refreshIntervalMs: 31_536_000_000 }],
    ['immutable: true\nrestart: true', { immutable: true, restart: true }],
    ['type: kubernetes.io/tls', { type: 'kubernetes.io/tls' }],
    ['type: kubernetes.io/tls\nkeys: {tls.crt: cert, tls.key: key}', { type: 'kubernetes.io/tls' }],
    ['type: kubernetes.io/dockerconfigjson\nformat: raw\nkey: .dockerconfigjson', { key: '.dockerconfigjson' }],
    ['type: kubernetes.io/tls\nkeys: [tls.crt]\ncreationPolicy: Merge', { creationPolicy: 'Merge' }],
  ])('accepts %j', (more, expected) => {
    expect(request(`${BASE}${more}`)).toMatchObject(expected);
  });

  test('may request several secrets from several providers', () => {
    const { requests, problems } = parse(`
secrets:
  - provider: aws-secretsmanager
    path: /prod/db/credentials
    secretName: db-credentials
  - provider: vault
    path: secret/data/api-keys
    secretName: api-keys
`);
    expect(problems).toEqual([]);
    expect(requests.map(({ field, provider, secretName }) => [field, provider, secretName])).toEqual([
      ['secrets[0]', 'aws-secretsmanager', 'db-credentials'],
      ['secrets[1]', 'vault', 'api-keys'],
    ]);
  });
});

describe('an invalid annotation', () => {
  const unreadable: [text: string, message: RegExp][] = [
    ['', /the annotation is empty; set provider, path and secretName/],
    ['# nothing', /the annotation is empty/],
    ['just text', /must be a map with provider, path and secretName/],
    ['- a', /must be a map/],
    ['provider: mock\npath: [', /line 2: flow sequence .*; correct the YAML/],
    ['provider: "mock', /line 1: missing closing "quote/],
    [`${BASE}path: /other`, /line 4: the key "path" is duplicated/],
    ['provider: &store mock', /line 1: the anchor &store is not supported/],
    ['provider: mock\npath: *store', /line 2: the alias \*store is not supported/],
    ['<<: {provider: mock}', /line 1: the merge key << is not supported/],
    ['provider: !!str mock', /line 1: the tag .*str is not supported/],
    ['provider: ! mock', /line 1: the tag ! is not supported/],
    ['a: 1\n---\nb: 2', /line 2: a second YAML document starts here/],
    ['%YAML 1.1\n---\na: b', /line 1: directives such as %YAML are not supported/],
    ['1: 2', /line 1: a key is not a string; put it in quotes/],
    ['? {a: b}\n: c', /line 1: a key is not a string/],
    [`a: ${'['.repeat(9)}`, /is nested deeper than 8 levels/],
    ['- '.repeat(9), /is nested deeper than 8 levels/],
    ['['.repeat(65_536), /too many YAML tokens/],
    [`a: ${'x'.repeat(65_534)}`, /has 65537 bytes, but at most 65536 are allowed/],
    [`a: ${'ü'.repeat(32_767)}`, /has 65537 bytes/],
    [
      `${BASE}secrets: []`,
      /^secrets \(line 4\): Forbidden: cannot be combined with provider, path, secretName; move these/,
    ],
    ['secrets: []', /^secrets \(line 1\): Invalid value: must be a list of entries/],
    ['secrets: {provider: mock}', /must be a list of entries/],
    [`secrets: [${'{},'.repeat(MAX_SECRETS + 1)}]`, /Too many: 21: must have at most 20 items/],
  ];
  test.each(unreadable.map(([text, message]) => [message, text] as const))('yields no request: %s', (message, text) => {
    const { requests, problems } = parse(text);
    expect(requests).toEqual([]);
    expect(problems).toEqual([{ reason: 'AnnotationInvalid', message: expect.stringMatching(message) as string }]);
  });

  const invalid: [text: string, message: string | RegExp][] = [
    [
      'provider: mock',
      'path: Required value: the path of the secret, in the format of the store; secretName: Required value: the name of the Secret to write',
    ],
    [`${BASE}secretname: a`, 'secretname (line 4): Forbidden: unknown field; use secretName instead'],
    [
      `${BASE}colour: red`,
      /^colour \(line 4\): Forbidden: unknown field; supported fields: provider, path, secretName, keys/,
    ],
    [`${BASE}__proto__: {a: b}`, /^__proto__ \(line 4\): Forbidden: unknown field/],
    [
      `${BASE}namespace: other`,
      "namespace (line 4): Forbidden: the Secret is always in the pod's own namespace; remove the field",
    ],
    [`${BASE}keys:`, 'keys (line 4): Invalid value: null: must not be null; set a value, or remove the field'],
    [`${BASE}versionId: 3`, 'versionId (line 4): Invalid value: "integer": must be of type string; put it in quotes'],
    [`${BASE}role: true`, 'role (line 4): Invalid value: "boolean": must be of type string; put it in quotes'],
    [`${BASE}role: {a: b}`, 'role (line 4): Invalid value: "object": must be of type string'],
    [`${BASE}role: ""`, 'role (line 4): Invalid value: "": should be at least 1 chars long'],
    [
      `${BASE}immutable: yes`,
      'immutable (line 4): Invalid value: "string": must be of type boolean; write true or false, without quotes',
    ],
    [
      `${BASE}decode: base64`,
      'decode (line 4): Unsupported value: "base64": supported values: "None", "Base64", "Base64URL", "Auto"',
    ],
    [`${BASE}decode: 1`, 'decode (line 4): Invalid value: "integer": must be of type string; put it in quotes'],
    [`${BASE}keys: 5`, /^keys \(line 4\): Invalid value: "number": must be a list of keys, or a map/],
    [`${BASE}keys: []`, /^keys \(line 4\): Invalid value: 0: should have at least 1 items/],
    [`${BASE}keys:\n  - a\n  - a`, 'keys[1] (line 6): Duplicate value: "a"'],
    [`${BASE}keys: [a b]`, /^keys\[0\] \(line 4\): Invalid value: "a b": a key of a Secret must consist of letters/],
    [
      `${BASE}keys: {..x: a}`,
      /^keys\.\.\.x \(line 4\): Invalid value: "\.\.x": a key of a Secret must not be '\.' or start with '\.\.'/,
    ],
    [`${BASE}keys: {a: ""}`, /^keys.a \(line 4\): Invalid value: "": should be at least 1/],
    [`${BASE}keys: {a: }`, /^keys.a \(line 4\): Invalid value: "null": must be of type string/],
    [
      `${BASE}keys: [a]\noptionalKeys: [b]`,
      'optionalKeys[0] (line 5): Invalid value: "b": is not in keys; add it to keys, or remove it from optionalKeys',
    ],
    [`${BASE}key: a`, /^key \(line 4\): Forbidden: format json takes the keys from the JSON object; remove key/],
    [`${BASE}format: raw`, 'key: Required value: format raw needs the key to store the value under'],
    [`${BASE}format: binary\nkey: a/b`, /^key \(line 5\): Invalid value: "a\/b": a key of a Secret/],
    [`${BASE}format: raw\nkey: a\nkeys: [b]`, /^keys \(line 6\): Forbidden: a raw secret has no keys to select from/],
    [`${BASE}format: raw\nkey: a\noptionalKeys: [b]`, /^optionalKeys \(line 6\): Forbidden/],
    [
      `${BASE}versionId: a\nversionStage: b`,
      'versionId (line 4): Forbidden: cannot be combined with versionStage; remove one of them',
    ],
    [
      `${BASE}refreshInterval: 59s`,
      /^refreshInterval \(line 4\): Invalid value: "59s": must be a duration such as 10m/,
    ],
    [`${BASE}refreshInterval: -1h`, /must be a duration/],
    [`${BASE}refreshInterval: soon`, /must be a duration/],
    [`${BASE}refreshInterval: 8760h1s`, /must be a duration/],
    [`${BASE}region: eu_west`, /^region \(line 4\): Invalid value: "eu_west": a lowercase RFC 1123 label/],
    [`${BASE}region: evil.example`, /must not contain dots/],
    [`${BASE}type: a b`, /^type \(line 4\): Invalid value: "a b": name part must consist of/],
    [`${BASE}type: bootstrap.kubernetes.io/token`, /^type .*credentials that grant access to the cluster/],
    [
      `${BASE}type: kubernetes.io/service-account-token`,
      /^type .*Secrets of this type are filled by the cluster itself/,
    ],
    [
      `${BASE}type: kubernetes.io/tls\nkeys: [tls.crt]`,
      'type (line 4): Invalid value: "kubernetes.io/tls": a Secret of this type needs the key "tls.key"; add it, or use Opaque',
    ],
    [
      `${BASE}type: kubernetes.io/basic-auth\nformat: raw\nkey: a`,
      /needs at least one of the keys "username" and "password"/,
    ],
    [`${BASE}type: kubernetes.io/ssh-auth\ntemplate: {a: b}`, /needs the key "ssh-privatekey"/],
    [
      `${BASE}template: {a: "{{ data.x"}`,
      /^template.a \(line 4\): Invalid value: the template is not valid at line 1: the placeholder is not closed/,
    ],
    [`${BASE}template: {a: "{{ nothing }}"}`, /^template.a \(line 4\): .*undeclared reference to 'nothing'/],
    [`${BASE}template: {a b: c}`, /^template.a b \(line 4\): Invalid value: "a b": a key of a Secret/],
    [`${BASE}template: {a: "${'{{ 1 }}'.repeat(201)}"}`, /more than 200 expressions in total/],
    [`${BASE}template: {a: "{{ '${'x'.repeat(8_192)}' }}"}`, /more than 8192 characters in total/],
    [
      `${BASE}immutable: true\ncreationPolicy: Merge`,
      /^immutable \(line 4\): Forbidden: creationPolicy Merge writes to a Secret that other clients change/,
    ],
    [
      `${BASE}immutable: true\nrefreshInterval: 1h`,
      /^refreshInterval \(line 5\): Forbidden: an immutable Secret cannot be refreshed/,
    ],
    [
      `${BASE}deletionPolicy: Delete\ncreationPolicy: Merge`,
      /^deletionPolicy \(line 4\): Forbidden: .*never deleted by JASM/,
    ],
    [BASE.replace('/app/db', '""'), /^path \(line 2\): Invalid value: "": should be at least 1/],
    [BASE.replace('/app/db', 'x'.repeat(2_049)), 'path (line 2): Too long: may not be more than 2048 bytes'],
    [
      BASE.replace('/app/db', '"a\\u0000b"'),
      'path (line 2): Invalid value: "a\\x00b": must not contain control characters',
    ],
    [BASE.replace('/app/db', '"\\ud800"'), /^path \(line 2\): .*must not contain control characters/],
    [
      BASE.replace(': db', ': My_Secret'),
      /^secretName \(line 3\): Invalid value: "My_Secret": a lowercase RFC 1123 subdomain must consist of/,
    ],
    [BASE.replace(': db', `: ${'a'.repeat(254)}`), 'secretName (line 3): Too long: may not be more than 253 bytes'],
  ];
  test.each(invalid.map(([text, message]) => [message, text] as const))('reports %s', (message, text) => {
    const { requests, problems } = parse(text);
    expect(requests).toEqual([]);
    expect(problems).toEqual([
      {
        reason: 'AnnotationInvalid',
        message: typeof message === 'string' ? message : (expect.stringMatching(message) as string),
      },
    ]);
  });

  test('lists the supported providers', () => {
    expect(messages(BASE.replace('mock', 'gcp'))).toEqual([
      'ProviderUnsupported: provider (line 1): Unsupported value: "gcp": supported values: "aws-secretsmanager", "vault", "mock"',
    ]);
    expect(messages(BASE.replace('mock', 'toString'))).toEqual([expect.stringMatching(/^ProviderUnsupported/)]);
  });

  test('does not affect the valid entries next to an invalid one', () => {
    const { requests, problems } = parse(`
secrets:
  - {provider: mock, path: a, secretName: A}
  - {provider: gcp, path: a, secretName: b}
  - {provider: mock, path: a, secretName: c}
  - {provider: mock, path: b, secretName: c}
  - {provider: mock, path: a, secretName: d, provide: x}
  - text
  - {provider: mock, path: a, secretName: e}
`);
    expect(requests.map(({ field, secretName }) => [field, secretName])).toEqual([
      ['secrets[2]', 'c'],
      ['secrets[6]', 'e'],
    ]);
    expect(problems.map(({ reason, message }) => [reason, message.replace(/\).*/, ')')])).toEqual([
      ['AnnotationInvalid', 'secrets[0].secretName (line 3)'],
      ['ProviderUnsupported', 'secrets[1].provider (line 4)'],
      ['AnnotationInvalid', 'secrets[3].secretName (line 6)'],
      ['AnnotationInvalid', 'secrets[4].provide (line 7)'],
      ['AnnotationInvalid', 'secrets[5] (line 8)'],
    ]);
    expect(problems[2]?.message).toContain('Duplicate value: "c": already requested by secrets[2]');
  });

  test('applies the limit on template expressions to all entries together', () => {
    const entry = (name: string) =>
      `{provider: mock, path: a, secretName: ${name}, template: {a: "${'{{ 1 }}'.repeat(150)}"}}`;
    const { requests, problems } = parse(`secrets: [${entry('a')}, ${entry('b')}]`);
    expect(requests.map(({ secretName }) => secretName)).toEqual(['a']);
    expect(problems).toEqual([
      expect.objectContaining({ message: expect.stringContaining('more than 200 expressions in total') as string }),
    ]);
  });

  test('applies the limit on regular expressions to all templates together', () => {
    const template = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`k${index}`, `{{ 'a'.matches('${'a{1000}'.repeat(10)}${index}') }}`]),
    );
    const { problems } = parse(JSON.stringify({ provider: 'mock', path: 'a', secretName: 'a', template }));
    expect(problems).toEqual([
      expect.objectContaining({
        message: expect.stringContaining(
          'the regular expressions of all templates are too complex in total; simplify them',
        ) as string,
      }),
    ]);
    expect(messages(`${BASE}template: {a: "{{ 'a'.matches('${'a{1000}'.repeat(900)}') }}"}`)).toEqual([
      expect.stringMatching(/more than 20000 instructions in total/),
    ]);
  });

  test('is described briefly, however long or unusual it is', () => {
    for (const text of [
      `${BASE}decode: ${'x'.repeat(60_000)}`,
      `${BASE}"${'\\u0000'.repeat(9_000)}": a`,
      `${'a'.repeat(60_000)}: b`,
    ]) {
      const [problem] = parse(text).problems;
      expect(problem?.message.length).toBeLessThan(1_500);
      expect(problem?.message).toMatch(/^[\P{Cc}]*$/u);
    }
    expect(messages(`${BASE}decode: ${'x'.repeat(60_000)}`)).toEqual([
      expect.stringMatching(/supported values: "None", "Base64", "Base64URL", "Auto"$/),
    ]);
  });
});
