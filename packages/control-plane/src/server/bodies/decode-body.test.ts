import { describe, expect, it } from 'vitest';
import { startTestServer } from '../in-process.test-support.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const TYPE = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
const UNRECOGNIZED = 'the object provided is unrecognized (must be of type ConfigMap): ';
const NO_KIND = "couldn't get version/kind; json parse error: ";

/** The real server's responses to bodies that are not a ConfigMap. */
const REFUSED: readonly (readonly [body: string, message: string, contentType?: string])[] = [
  ['', `${UNRECOGNIZED}${NO_KIND}unexpected end of JSON input (<empty>)`],
  ['{"apiVersion":"v1"', `${UNRECOGNIZED}${NO_KIND}unexpected end of JSON input ({"apiVersion":"v1")`],
  [
    'hello',
    `${UNRECOGNIZED}${NO_KIND}invalid character 'h' looking for beginning of value (${Buffer.from('hello').toString('hex')})`,
  ],
  ['[]', `${UNRECOGNIZED}${NO_KIND}json: cannot unmarshal array into Go value of type ${TYPE} (5b5d)`],
  ['5', `${UNRECOGNIZED}${NO_KIND}json: cannot unmarshal number into Go value of type ${TYPE} (35)`],
  [
    '{"apiVersion":{"a":1},"kind":"ConfigMap"}',
    `${UNRECOGNIZED}${NO_KIND}json: cannot unmarshal object into Go struct field .apiVersion of type string ({"apiVersion":{"a":1},"kind":" ...)`,
  ],
  [
    '{"apiVersion":"v1","kind":["x"]}',
    `${UNRECOGNIZED}${NO_KIND}json: cannot unmarshal array into Go struct field .kind of type string ({"apiVersion":"v1","kind":["x" ...)`,
  ],
  [
    '{"apiVersion":"a/b/c","kind":"ConfigMap"}',
    `${UNRECOGNIZED}unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)`,
  ],
  [
    '{"apiVersion":"v1","kind":"Secret"}',
    'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  ],
  [
    '{"apiVersion":"apps/v1","kind":"ConfigMap"}',
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps/v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  [
    '- a',
    `${UNRECOGNIZED}${NO_KIND}json: cannot unmarshal array into Go value of type ${TYPE} (2d2061)`,
    'application/yaml',
  ],
  ['a: .inf', `${UNRECOGNIZED}json: unsupported value: +Inf (613a202e696e66)`, 'application/yaml'],
  [
    `${'- '.repeat(3_000)}a`,
    `${UNRECOGNIZED}yaml: exceeded max depth of 1000 (2d202d202d202d202d202d202d202d202d202d202d202d202d202d202d20 ...)`,
    'application/yaml',
  ],
];

describe('bodies', () => {
  it.each(REFUSED)('refuses %j with the message of the API server', async (body, message, contentType) => {
    const { call } = startTestServer();
    const response = await call('POST', MAPS, body, contentType === undefined ? {} : { 'content-type': contentType });
    expect(response).toMatchObject({ status: 400, body: { message, reason: 'BadRequest' } });
  });

  it.each([
    ['{"a"', `${NO_KIND}unexpected end of JSON input`],
    [
      '{"apiVersion":"v1","kind":"Pod"}',
      'no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    ],
    [
      '{"gracePeriodSeconds":"x"}',
      'json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
    ],
    ['{"dryRun":"x"}', 'json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string'],
  ])('refuses %s as delete options', async (body, message) => {
    const { call } = startTestServer();
    expect(await call('DELETE', `${MAPS}/a`, body)).toMatchObject({ status: 400, body: { message } });
  });

  it('accepts null and an object without a kind as the kind of the path', async () => {
    const { call } = startTestServer();
    await call('POST', '/api/v1/namespaces', { metadata: { name: 'default' } });
    expect(await call('POST', MAPS, '{"apiVersion":null,"kind":null,"metadata":{"name":"a"}}')).toMatchObject({
      status: 201,
    });
    expect(await call('POST', MAPS, 'null')).toMatchObject({ status: 422 });
  });

  it.each([
    ['lists', (depth: number) => `a: ${'['.repeat(depth)}`],
    ['maps', (depth: number) => `a: ${'{b: '.repeat(depth)}`],
    ['block sequences', (depth: number) => '- '.repeat(depth)],
  ])('refuses YAML of deeply nested %s without a stack overflow', async (_, text) => {
    const { call } = startTestServer();
    const headers = { 'content-type': 'application/yaml' };
    const { status, body } = await call('POST', MAPS, text(30_000), headers);
    expect([status, body.message]).toEqual([400, expect.stringContaining('yaml: exceeded max depth of 1000')]);
  });

  it.each([
    ['block', 'metadata:\n  name: a\ndata:\n  x: "1"\n  x: "2"\n', 5],
    ['flow', '{metadata: {name: a},\n data: {x: "1", x: "2"}}', 2],
    ['JSON', '{"metadata": {"name": "a"},\n\n "data": {"x": "1", "x": "2"}}', 3],
  ])(
    'keeps the last of duplicate keys in YAML in %s form with a warning, an error or silently',
    async (_, text, line) => {
      const { call } = startTestServer();
      const warning = `line ${line}: key "x" already set in map`;
      const post = (validation: string) =>
        call('POST', `${MAPS}?dryRun=All&fieldValidation=${validation}`, text, { 'content-type': 'application/yaml' });
      const refused = await post('Strict');
      expect([refused.status, refused.body.message]).toEqual([
        400,
        `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  ${warning}`,
      ]);
      const warned = await post('Warn');
      expect(warned).toMatchObject({ status: 201, body: { data: { x: '2' } } });
      expect(warned.headers.warning).toEqual([`299 - ${JSON.stringify(warning)}`]);
      const silent = await post('Ignore');
      expect([silent.status, silent.headers.warning]).toEqual([201, undefined]);
    },
  );

  it('refuses a patch with too many operations', async () => {
    const { call } = startTestServer();
    const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'x' }));
    const headers = { 'content-type': 'application/json-patch+json' };
    expect(await call('PATCH', `${MAPS}/a`, operations, headers)).toMatchObject({
      status: 413,
      body: {
        message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
      },
    });
  });

  it.each([
    ['..', "may not be '..'"],
    ['a%25b', "may not contain '%'"],
  ])('refuses the name %s', async (name, problem) => {
    const { call } = startTestServer();
    const { status, body } = await call('GET', `${MAPS}/${name}`);
    expect([status, body.message]).toEqual([
      400,
      `Name parameter invalid: ${JSON.stringify(decodeURIComponent(name))}: ${problem}`,
    ]);
  });
});
