import { MAX_CONTENT_BYTES } from '@bowline/machinery';
import { describe, expect, test } from 'vitest';
import { parsePodAnnotation } from '../annotation/parse-pod-annotation.ts';
import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import type { SecretPayload } from '../providers/provider.ts';
import { ContentProblem } from './content-problem.ts';
import { secretData } from './secret-data.ts';

function request(more: string): SecretSyncRequest {
  const { requests, problems } = parsePodAnnotation(`provider: mock\npath: a\nsecretName: a\n${more}`, ['mock']);
  const [only] = requests;
  if (!only) throw new Error(problems[0]?.message);
  return only;
}

const text = (content: string): SecretPayload => ({ kind: 'text', text: content });
const bytes = (...content: number[]): SecretPayload => ({ kind: 'bytes', bytes: Uint8Array.from(content) });
const entries = (content: Record<string, Uint8Array>): SecretPayload => ({ kind: 'entries', entries: content });

function data(payload: SecretPayload | string, more = ''): Readonly<Record<string, string>> {
  const given = typeof payload === 'string' ? text(payload) : payload;
  return secretData({ provider: 'mock', sourcePath: 'a', payload: given, version: '1' }, request(more));
}

/** Returns the values as text; only for values that are text. */
function values(payload: SecretPayload | string, more = ''): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data(payload, more)).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}

function problem(payload: SecretPayload | string, more = ''): string {
  try {
    data(payload, more);
  } catch (error) {
    if (error instanceof ContentProblem) return `${error.reason}: ${error.message}`;
    throw error;
  }
  throw new Error('there is no problem');
}

describe('a JSON object', () => {
  test('is encoded as Base64', () => {
    expect(data('{"DB_USER":"admin","DB_PASSWORD":"p\\u00e4ss"}')).toEqual({
      DB_USER: 'YWRtaW4=',
      DB_PASSWORD: 'cMOkc3M=',
    });
    expect(data('{}')).toEqual({});
    expect(data('\ufeff {"a":""}\n')).toEqual({ a: '' });
  });

  test.each<[json: string, value: string]>([
    ['"text with \\"quotes\\" and \\n"', 'text with "quotes" and \n'],
    ['12345678901234567890', '12345678901234567890'],
    ['1.10', '1.10'],
    ['-0', '-0'],
    ['1E400', '1E400'],
    ['true', 'true'],
    ['false', 'false'],
    ['[ 1.0, null, "a\\/b" ]', '[1.0,null,"a/b"]'],
    [
      '{ "big": 12345678901234567890, "list": [ { } , [] ] , "__proto__": 1 }',
      '{"big":12345678901234567890,"list":[{},[]],"__proto__":1}',
    ],
  ])('converts %s to the text %j', (json, value) => {
    expect(values(`{"key": ${json}}`)).toEqual({ key: value });
  });

  test('may have keys that are special names in JavaScript; the last of two equal keys counts', () => {
    expect(Object.entries(values('{"__proto__":"a","constructor":"b"}'))).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
    expect(values('{"a":"1","a":"2"}')).toEqual({ a: '2' });
  });

  test('may be provided as bytes', () => {
    expect(values({ kind: 'bytes', bytes: Buffer.from('{"a":"ü"}') })).toEqual({ a: 'ü' });
  });
});

describe('keys', () => {
  const source = '{"a":"1","b":"2","n":null,"db":{"user":"x","p.q":{"r":"y"}},"db.host":"z","list":[{"a":1}]}';

  test.each<[more: string, values: Record<string, string>]>([
    ['keys: [a]', { a: '1' }],
    ['keys: {A: a, B: a}', { A: '1', B: '1' }],
    [
      'keys: {user: db.user, host: db.host, deep: db.p.q.r, all: db}',
      { user: 'x', host: 'z', deep: 'y', all: '{"user":"x","p.q":{"r":"y"}}' },
    ],
    ['keys: [db.user]', { 'db.user': 'x' }],
    ['keys: [a, missing]\noptionalKeys: [missing]', { a: '1' }],
    ['keys: [a, n]\noptionalKeys: [n]', { a: '1' }],
    ['keys: {x: missing.y, a: a}\nmissingKeyPolicy: Ignore', { a: '1' }],
    ['keys: [missing]\nmissingKeyPolicy: Ignore', {}],
  ])('%j select %j', (more, expected) => {
    expect(values(source, more)).toEqual(expected);
  });

  test('that are null are omitted if they are optional', () => {
    expect(Object.keys(data(source, 'missingKeyPolicy: Ignore'))).toEqual(['a', 'b', 'db', 'db.host', 'list']);
    expect(Object.keys(data(source, 'optionalKeys: [n]'))).toEqual(['a', 'b', 'db', 'db.host', 'list']);
  });

  test.each<[more: string, message: RegExp]>([
    ['', /^SecretKeyMissing: the key "n" is null in the secret; add it in the store, list it in optionalKeys/],
    ['keys: [missing]', /^SecretKeyMissing: the key "missing" is not in the secret/],
    ['keys: {a: db.password}', /^SecretKeyMissing: the key "db.password" is not in the secret/],
    ['keys: {a: list.0}', /^SecretKeyMissing/],
    ['keys: {a: a.b}', /^SecretKeyMissing/],
    ['keys: {a: db.}', /^SecretKeyMissing/],
    ['keys: {a: constructor}', /^SecretKeyMissing/],
    ['keys: {a: db.__proto__.toString}', /^SecretKeyMissing/],
    ['keys: [a, n]', /^SecretKeyMissing: the key "n" is null/],
    [`keys: {a: ${'x'.repeat(2_000)}}`, /^SecretKeyMissing: the key "x{100}…" is not/],
  ])('that are missing cause a problem: %.40s', (more, message) => {
    expect(problem(source, more)).toMatch(message);
  });

  test.each(['a b', '..x', '.', '..', '', 'ä', 'a/b', 'x'.repeat(254)])('of the source must not be %.20j', (key) => {
    expect(problem(JSON.stringify({ [key]: 'v' }))).toMatch(
      /^SecretKeyInvalid: the key .* is not valid in a Secret: it must .*; select keys with keys, or rename them with a map/,
    );
    if (key !== '')
      expect(values(JSON.stringify({ [key]: 'v' }), `keys: {ok: ${JSON.stringify(key)}}`)).toEqual({ ok: 'v' });
  });
});

describe('a secret that is not a JSON object', () => {
  test.each<[payload: SecretPayload, message: RegExp]>([
    [
      text('plain text'),
      /^SecretParseFailed: the secret is not valid JSON at line 1, column 1; .* set format to raw, and set key/,
    ],
    [text('{\n  "a": x}'), /not valid JSON at line 2, column 8/],
    [text(''), /not valid JSON at line 1, column 1/],
    [text('[1]'), /must be a JSON object, but is a list/],
    [text('"a"'), /must be a JSON object, but is text/],
    [text('12'), /must be a JSON object, but is a number/],
    [text('true'), /must be a JSON object, but is true or false/],
    [text('null'), /must be a JSON object, but is null/],
    [text('['.repeat(100_000)), /not valid JSON/],
    [bytes(0xff, 0xfe), /the secret is binary data, not text; set format to binary, and set key/],
  ])('causes a problem (%#)', (payload, message) => {
    expect(problem(payload)).toMatch(message);
  });

  test('is a single value with format raw or binary', () => {
    expect(values('plain text\n', 'format: raw\nkey: token')).toEqual({ token: 'plain text\n' });
    expect(values('', 'format: raw\nkey: token')).toEqual({ token: '' });
    expect(data(bytes(0xff, 0, 1), 'format: binary\nkey: store.p12')).toEqual({ 'store.p12': '/wAB' });
    expect(values('text', 'format: binary\nkey: a')).toEqual({ a: 'text' });
    expect(problem(bytes(0xff), 'format: raw\nkey: a')).toMatch(/binary data, not text/);
    expect(data({ kind: 'bytes', bytes: Buffer.from('\ufeffx') }, 'format: raw\nkey: a')).toEqual({ a: '77u/eA==' });
  });
});

describe('values by key', () => {
  const source = entries({ user: Buffer.from('x'), cert: Uint8Array.from([0xff, 0]), 'a b': Buffer.from('y') });

  test('are selected, and remain bytes', () => {
    expect(data(source, 'keys: [user, cert]')).toEqual({ user: 'eA==', cert: '/wA=' });
    expect(data(source, 'keys: {b: a b}')).toEqual({ b: 'eQ==' });
    expect(problem(source)).toMatch(/^SecretKeyInvalid: the key "a b"/);
    expect(problem(source, 'keys: [toString]')).toMatch(/^SecretKeyMissing/);
  });

  test('cannot be used as a single value', () => {
    expect(problem(source, 'format: raw\nkey: a')).toMatch(
      /^SecretParseFailed: the secret has several keys, .* set format to json/,
    );
  });
});

describe('decode', () => {
  test.each<[decode: string, json: string, value: string]>([
    ['None', '"aGk="', 'aGk='],
    ['Base64', '"aGk="', 'hi'],
    ['Base64', '"aGk"', 'hi'],
    ['Base64', '"aG\\nk=\\n"', 'hi'],
    ['Base64', '""', ''],
    ['Base64', '"Pz8/"', '???'],
    ['Base64URL', '"Pz8_"', '???'],
    ['Base64URL', '"aGk="', 'hi'],
    ['Auto', '"aGk="', 'hi'],
    ['Auto', '"Pz8_"', '???'],
    ['Auto', '"not base64!"', 'not base64!'],
    ['Auto', '"abcde"', 'abcde'],
    ['Auto', '12345678', '12345678'],
    ['Base64', 'true', 'true'],
    ['Base64', '12', '12'],
  ])('%s decodes %s to %j', (decode, json, value) => {
    expect(values(`{"a":${json}}`, `decode: ${decode}`)).toEqual({ a: value });
  });

  test.each<[decode: string, value: string]>([
    ['Base64', 'Pz8_'],
    ['Base64', 'not base64!'],
    ['Base64', 'abcde'],
    ['Base64', 'a=b='],
    ['Base64', 'aGk=='],
    ['Base64', 'ä'],
    ['Base64URL', 'Pz8/'],
  ])('%s rejects %j', (decode, value) => {
    expect(problem(JSON.stringify({ a: value }), `decode: ${decode}`)).toBe(
      `SecretParseFailed: the value of the key "a" is not ${decode}; correct it in the store, or set decode to None or Auto`,
    );
  });

  test('applies to single values and to values by key', () => {
    expect(values('aGk=', 'format: raw\nkey: a\ndecode: Base64')).toEqual({ a: 'hi' });
    expect(values(entries({ a: Buffer.from('aGk=') }), 'decode: Base64')).toEqual({ a: 'hi' });
  });
});

const FAILS =
  'SecretParseFailed: template.a: the expressions cannot be evaluated with the values of this secret, or need too many steps; check the types of the values, and guard optional keys with has()';

describe('a template', () => {
  const source = '{"user":"x","password":"aGk=","n":1}';

  test('composes values from the selected and decoded ones; the Secret has only the keys of the template', () => {
    expect(
      values(source, 'decode: Auto\ntemplate: {url: "db://{{ data.user }}:{{ data.password }}@{{ int(data.n) + 1 }}"}'),
    ).toEqual({ url: 'db://x:hi@2' });
    expect(values(source, 'keys: {name: user}\ntemplate: {name: "{{ data.name }}", b: text}')).toEqual({
      name: 'x',
      b: 'text',
    });
    expect(values('x', 'format: raw\nkey: token\ntemplate: {header: "Bearer {{ data[\'token\'] }}"}')).toEqual({
      header: 'Bearer x',
    });
  });

  test.each<[payload: string | SecretPayload, template: string, message: string]>([
    [
      source,
      '{{ data.missing }}',
      'SecretKeyMissing: template.a: the key "missing" does not exist; add it in the store, or guard it with has()',
    ],
    [
      source,
      "{{ data['m.n'] }}",
      'SecretKeyMissing: template.a: the key "m.n" does not exist; add it in the store, or guard it with has()',
    ],
    [source, '{{ data[data.user] }}', FAILS],
    [source, '{{ int(data.user) }}', FAILS],
    [JSON.stringify({ big: 'x'.repeat(30_000) }), "{{ data.big.split('').join(data.big) }}", FAILS],
    [
      entries({ user: Uint8Array.of(0xff) }),
      '{{ data.user }}',
      'SecretParseFailed: template.a: the value of "user" is not UTF-8 text; remove it from the template',
    ],
  ])('fails without revealing any value: %#', (payload, template, message) => {
    expect(problem(payload, `template: {a: ${JSON.stringify(template)}}`)).toBe(message);
  });
});

describe('content that the API server would reject', () => {
  test('exceeds the size limit by one byte', () => {
    const half = 'x'.repeat(MAX_CONTENT_BYTES / 2);
    expect(Object.keys(data(JSON.stringify({ a: half, b: half })))).toEqual(['a', 'b']);
    expect(problem(JSON.stringify({ a: half, b: `${half}y` }))).toBe(
      'SecretTooLarge: the values have 1048577 bytes in total, but a Secret holds at most 1048576; select fewer keys with keys',
    );
  });

  test.each<[type: string, json: string, message: RegExp]>([
    [
      'kubernetes.io/tls',
      '{"tls.crt":"a"}',
      /^SecretKeyMissing: a Secret of type kubernetes.io\/tls needs the key "tls.key"/,
    ],
    [
      'kubernetes.io/basic-auth',
      '{"user":"a"}',
      /^SecretKeyMissing: .* needs at least one of the keys "username" and "password"/,
    ],
    ['kubernetes.io/ssh-auth', '{"ssh-privatekey":""}', /^SecretKeyMissing: .* needs a value for "ssh-privatekey"/],
    ['kubernetes.io/dockerconfigjson', '{"auths":{}}', /^SecretKeyMissing: .* needs the key ".dockerconfigjson"/],
    [
      'kubernetes.io/dockerconfigjson',
      '{".dockerconfigjson":"x"}',
      /^SecretParseFailed: .* the value of ".dockerconfigjson" must be a JSON object/,
    ],
    ['kubernetes.io/dockercfg', '{".dockercfg":"[]"}', /^SecretParseFailed/],
  ])('accepts type %s for %s', (type, json, message) => {
    expect(problem(json, `type: ${type}`)).toMatch(message);
  });

  test.each<[type: string, json: string]>([
    ['kubernetes.io/tls', '{"tls.crt":"","tls.key":""}'],
    ['kubernetes.io/basic-auth', '{"password":"a"}'],
    ['kubernetes.io/dockerconfigjson', '{".dockerconfigjson":{"auths":{}}}'],
    ['kubernetes.io/dockerconfigjson', '{".dockerconfigjson":"null"}'],
    ['kubernetes.io/tls\ncreationPolicy: Merge', '{"tls.crt":""}'],
  ])('rejects type %s for %s', (type, json) => {
    expect(data(json, `type: ${type}`)).toBeDefined();
  });
});

test('no problem message contains a value', () => {
  const canary = 'CANARY';
  const payloads: (string | SecretPayload)[] = [
    canary,
    `"${canary}"`,
    `["${canary}"]`,
    `{"a": "${canary}`,
    `{"a": ${canary}}`,
    `{"a": "${canary}\\x"}`,
    `{"a": 1${canary}}`,
    `{"a": "${canary}", "n": null}`,
    `{"a": "${canary}", "..": "${canary}"}`,
    `{"a": "${canary}", ".dockercfg": "${canary}", ".dockerconfigjson": ["${canary}"], "b": {"c": "${canary}"}}`,
    `{"a": "${canary}${'x'.repeat(MAX_CONTENT_BYTES)}"}`,
    { kind: 'bytes', bytes: Buffer.concat([Buffer.from(canary), Buffer.of(0xff)]) },
    entries({ a: Buffer.concat([Buffer.from(canary), Buffer.of(0xff)]) }),
    entries({ a: Buffer.from(canary) }),
  ];
  const requests = [
    '',
    'keys: [missing]',
    'keys: {x: a.b}',
    'decode: Base64',
    'decode: Base64URL',
    'format: raw\nkey: a',
    'format: raw\nkey: a\ndecode: Base64',
    'format: binary\nkey: a',
    'format: binary\nkey: .dockercfg\ntype: kubernetes.io/dockercfg',
    'type: kubernetes.io/dockercfg',
    'type: kubernetes.io/dockerconfigjson',
    'type: kubernetes.io/tls',
    ...[
      '{{ int(data.a) }}',
      '{{ data[data.a] }}',
      '{{ data.a.matches(data.a) }}',
      '{{ duration(data.a) }}',
      '{{ timestamp(data.a) }}',
      '{{ data.a.charAt(99999999) }}',
      '{{ url(data.a).getHost() }}',
      '{{ quantity(data.a).asInteger() }}',
      '{{ data.a.substring(9, 1) }}',
    ].map((template) => `keys: [a]\ntemplate: {x: ${JSON.stringify(template)}}`),
  ];
  const shown = payloads.flatMap((payload) =>
    requests.flatMap((more) => {
      try {
        data(payload, more);
        return [];
      } catch (error) {
        expect(error).toBeInstanceOf(ContentProblem);
        const { message, stack, cause } = error as ContentProblem;
        expect(cause).toBeUndefined();
        return [message, stack ?? ''];
      }
    }),
  );
  expect(shown.length).toBeGreaterThan(300);
  expect(shown.filter((each) => each.includes(canary))).toEqual([]);
});

describe('input crafted to be expensive', () => {
  const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `k${index}`);

  test('is rejected if thousands of keys select one value', () => {
    const keys = JSON.stringify(Object.fromEntries(names(2_000).map((name) => [name, 'big'])));
    expect(problem(JSON.stringify({ big: 'x'.repeat(60_000) }), `keys: ${keys}`)).toMatch(
      /^SecretTooLarge: the values selected by keys have more than 4194304 bytes/,
    );
  });

  test('is handled quickly for a path of a thousand dots into a matching object', () => {
    const tree = (depth: number): string => (depth === 0 ? '{}' : `{"a":${tree(depth - 1)},"a.a":${tree(depth - 1)}}`);
    const path = new Array(1_000).fill('a').join('.');
    // Without a limit this takes a minute.
    expect(problem(tree(14), `keys: {x: ${path}}`)).toMatch(
      /^SecretKeyMissing: the key "a\.a\..* is not in the secret/,
    );
  });

  test('is rejected for a template with many keys that are each just below the limit', () => {
    const hole = "{{ string(data.big.split('').map(each, 1).size()) }}";
    const template = JSON.stringify(Object.fromEntries(names(100).map((name) => [name, hole])));
    const big = JSON.stringify({ big: 'x'.repeat(20_000) });
    expect(values(big, `template: ${JSON.stringify({ one: hole })}`)).toEqual({ one: '20000' });
    expect(problem(big, `template: ${template}`)).toMatch(/need too many steps/);
  });
});

test('the message of an internal error contains no value', () => {
  const stumbling = {
    kind: 'text',
    get text(): string {
      throw new RangeError('cannot read correct horse');
    },
  } as const;
  expect(problem(stumbling)).toMatch(/^SecretParseFailed: .* internal error \(RangeError\)/);
  expect(problem(stumbling)).not.toContain('correct horse');
});
