import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { resolveSchema, type Schema, schemaFor } from '@bowline/kubernetes/schemas';
import { canonicalJson, integerBelow, parseJson, seededRandom } from '@bowline/machinery';
import { describe, expect, test } from 'vitest';
import { BUILT_IN_KINDS } from '../registry/built-in-kinds.ts';
import { StatusError } from '../status/api-status.ts';
import { decodeProtobuf } from './decode-protobuf.ts';
import { KUBECTL_BODIES } from './kubectl-bodies.test-support.ts';
import { messageOf } from './message-fields.ts';

/** Hand-written protobuf: tags below 16, and varint lengths. */
const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
const bytes = (number: number, content: Uint8Array | string): Buffer => {
  const inner = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([number * 8 + 2, ...varint(inner.length)]), inner]);
};
const envelope = (apiVersion: string, kind: string, object: Uint8Array): Buffer =>
  Buffer.concat([
    Buffer.from('k8s\0'),
    bytes(1, Buffer.concat([bytes(1, apiVersion), bytes(2, kind)])),
    bytes(2, object),
  ]);

const EXPECTED = { apiVersion: 'v1', kind: 'ConfigMap' };
const decode = (body: Uint8Array, expected = EXPECTED): unknown => decodeProtobuf(body, expected).value;
const configMap = (...parts: Uint8Array[]): Buffer => envelope('v1', 'ConfigMap', Buffer.concat(parts));
const hex = (text: string): Buffer => Buffer.from(text, 'hex');

/** Kubernetes' own examples of every kind, in the module cache of a machine that built a control plane. */
const MODULES = join(process.env.GOMODCACHE ?? join(homedir(), 'go/pkg/mod'), 'k8s.io');
const EXAMPLES = ['api@v0.35.8/testdata/HEAD', 'apiextensions-apiserver@v0.35.8/pkg/apis/testdata/HEAD']
  .map((folder) => join(MODULES, folder))
  .filter((folder) => existsSync(folder));

describe('decodeProtobuf', () => {
  test.each(KUBECTL_BODIES)('reads %s as kubectl sends it', (_, body, object) => {
    expect(decode(Buffer.from(body, 'base64'))).toEqual(object);
  });

  test("reads Kubernetes' own examples of all kinds, with a value in every field", ({ skip }) => {
    skip(EXAMPLES.length === 0, `the Kubernetes modules are not in ${MODULES}: build the real control plane once`);
    let count = 0;
    for (const folder of EXAMPLES) {
      for (const file of readdirSync(folder).filter((name) => name.endsWith('.pb'))) {
        const { value } = parseJson(readFileSync(join(folder, file.replace(/pb$/, 'json')), 'utf8'));
        const { apiVersion, kind } = value as { readonly apiVersion: string; readonly kind: string };
        if (kind !== 'DeleteOptions' && !schemaFor(apiVersion, kind)) continue;
        expect(canonicalJson(decode(readFileSync(join(folder, file)))), file).toBe(canonicalJson(value));
        count++;
      }
    }
    expect(count).toBeGreaterThan(60);
  });

  test('knows the number of every field of every served kind', () => {
    const seen = new Set<string>();
    const visit = (schema: Schema): void => {
      const { ref, items, additionalProperties } = schema;
      if (items) visit(items);
      if (additionalProperties) visit(additionalProperties);
      if (ref === undefined || seen.has(ref)) return;
      seen.add(ref);
      const names = new Set<string>();
      const collect = ({ fields }: ReturnType<typeof messageOf>): void => {
        for (const field of fields.values()) {
          if (field.form === 'inline') collect(field.message());
          else names.add(field.name);
        }
      };
      collect(messageOf(ref));
      const { properties = {} } = resolveSchema(schema);
      for (const name of Object.keys(properties)) {
        const isType = name === 'apiVersion' || name === 'kind';
        if (!isType) expect(names, ref).toContain(name);
      }
      Object.values(properties).forEach(visit);
    };
    visit({ ref: 'meta-v1.DeleteOptions' });
    for (const { group, version, kinds } of BUILT_IN_KINDS) {
      const module = `${group === '' ? 'core' : group.split('.', 1)[0]}-${version}`;
      for (const { kind } of kinds) visit({ ref: `${module}.${kind}` });
    }
    expect(seen.size).toBeGreaterThan(300);
  });

  test('preserves integers beyond the safe range of numbers', () => {
    const options = envelope('apps/v1', 'DeleteOptions', hex('0881808080808080802018ffffffffffffffffff01'));
    const expected = { apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions' };
    expect(decode(options, expected)).toMatchObject({ gracePeriodSeconds: 2n ** 61n + 1n, orphanDependents: true });
    const negative = envelope('v1', 'DeleteOptions', hex('08ffffffffffffffffff01'));
    expect(decode(negative, expected)).toMatchObject({ gracePeriodSeconds: -1 });
  });

  test('takes a missing kind from the path, and treats map keys as data', () => {
    const body = Buffer.concat([Buffer.from('k8s\0'), bytes(2, bytes(2, bytes(1, '__proto__')))]);
    const value = decode(body) as { data: object };
    expect(value).toMatchObject(EXPECTED);
    expect(Object.entries(value.data)).toEqual([['__proto__', '']]);
    expect(Object.getPrototypeOf(value.data)).toBe(Object.prototype);
  });

  test('reads packed numbers and merges repeated parts of a message', () => {
    const context = (content: string): Buffer => bytes(14, hex(content));
    const pod = envelope('v1', 'Pod', bytes(2, Buffer.concat([context('22020102'), context('2003'), context('1001')])));
    expect(decode(pod)).toMatchObject({ spec: { securityContext: { supplementalGroups: [1, 2, 3], runAsUser: 1 } } });
  });

  test.each<[string, Uint8Array, string]>([
    ['nothing', hex(''), 'the object provided is unrecognized (must be of type ConfigMap): empty data (<empty>)'],
    [
      'JSON',
      Buffer.from('{}'),
      'the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({})',
    ],
    [
      'only the prefix',
      hex('6b387300'),
      'the object provided is unrecognized (must be of type ConfigMap): empty body (6b387300)',
    ],
    [
      'an envelope that ends early',
      hex('6b3873000a0f'),
      'the object provided is unrecognized (must be of type ConfigMap): unexpected EOF (6b3873000a0f)',
    ],
    [
      'an unknown kind',
      envelope('v1', 'Nope', hex('')),
      'Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    ],
    [
      'a number for a message',
      configMap(hex('0801')),
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: wrong wireType = 0 for field ObjectMeta',
    ],
    [
      'a text for a number',
      configMap(bytes(4, 'x')),
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: wrong wireType = 2 for field Immutable',
    ],
    [
      'a field without a number',
      configMap(hex('0000')),
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: ConfigMap: illegal tag 0 (wire type 0)',
    ],
    [
      'the end of a group that did not start',
      configMap(hex('0c')),
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: ConfigMap: wiretype end group for non-group',
    ],
    [
      'a group without end',
      configMap(hex('7b0801')),
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF',
    ],
    [
      'a length beyond the body',
      configMap(hex('0affffffff0f')),
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF',
    ],
    [
      'a length below zero',
      configMap(hex('0affffffffffffffffff01')),
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: negative length found during unmarshaling',
    ],
    [
      'a length that overflows',
      configMap(hex('0affffffffffffffffffffff01')),
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: integer overflow',
    ],
  ])('refuses %s with the message of the API server', (_, body, message) => {
    expect(() => decode(body)).toThrow(expect.objectContaining({ code: 400, reason: 'BadRequest', message }));
  });

  test('skips unknown fields', () => {
    const body = configMap(hex('7b08017c'), hex('790000000000000000'), hex('7d00000000'), bytes(15, 'x'), hex('7801'));
    expect(decode(body)).toEqual(EXPECTED);
  });

  test('refuses messages that are nested too deeply', () => {
    let schema: Buffer = Buffer.alloc(0);
    // Field 27 of a schema is `not`.
    for (let level = 0; level < 5_000; level++) {
      schema = Buffer.concat([Buffer.from([0xda, 0x01, ...varint(schema.length)]), schema]);
    }
    const version = bytes(7, Buffer.concat([bytes(4, bytes(1, schema))]));
    const body = envelope('apiextensions.k8s.io/v1', 'CustomResourceDefinition', bytes(2, version));
    expect(() => decode(body)).toThrow(/proto: JSONSchemaProps: nests deeper than 1000 levels$/);
  });

  test('decodes or refuses randomly mutated bodies without an internal error', () => {
    const random = seededRandom(1);
    for (const [, body] of KUBECTL_BODIES) {
      for (let run = 0; run < 300; run++) {
        const mutated = Buffer.from(body, 'base64');
        for (let change = integerBelow(random, 4); change >= 0; change--) {
          mutated[integerBelow(random, mutated.length)] = integerBelow(random, 256);
        }
        const cut = mutated.subarray(0, random.next() < 0.5 ? mutated.length : integerBelow(random, mutated.length));
        try {
          canonicalJson(decode(cut));
        } catch (error) {
          if (!(error instanceof StatusError) || error.code !== 400) throw error;
        }
      }
    }
  });
});
