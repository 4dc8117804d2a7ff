import type { ConfigMap } from '@bowline/kubernetes';
import { applyJsonPatch, type JsonPatchOperation } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { type AnyResponse, admit, admitChanged, admitPatched, deny } from './admission-response.ts';
import { respond } from './respond.ts';

const hook = { type: 'mutating', name: 'gate' } as const;
const original: ConfigMap = { metadata: { name: 'a', labels: { 'a/b~c': 'x' } }, data: { a: '1' } };
const responseTo = (returned: unknown, type: 'mutating' | 'validating' = 'mutating') =>
  respond({ ...hook, type }, 'uid-1', returned, () => structuredClone(original));

it('allows with only the uid', () => {
  expect(responseTo(admit())).toEqual({ uid: 'uid-1', allowed: true });
  expect(responseTo(admit(), 'validating')).toEqual({ uid: 'uid-1', allowed: true });
});

it.each<[string, AnyResponse, object]>([
  ['a text', deny('no'), { status: 'Failure', code: 403, reason: 'Forbidden', message: 'no' }],
  [
    'fields',
    deny({ message: 'no', causes: [{ reason: 'FieldValueInvalid', field: 'spec.x', message: 'odd' }] }),
    {
      status: 'Failure',
      code: 422,
      reason: 'Invalid',
      message: 'no',
      details: { causes: [{ reason: 'FieldValueInvalid', field: 'spec.x', message: 'odd' }] },
    },
  ],
  [
    'a custom code and reason',
    deny({ message: 'later', code: 429, reason: 'TooManyRequests' }),
    { status: 'Failure', code: 429, reason: 'TooManyRequests', message: 'later' },
  ],
])('denies with %s', (_, response, status) => {
  expect(responseTo(response)).toEqual({ uid: 'uid-1', allowed: false, status });
});

it('rejects a denial with a code outside 400 to 499', () => {
  expect(() => deny({ message: 'x', code: 200 })).toThrow(RangeError);
  expect(() => deny({ message: 'x', code: 500 })).toThrow(RangeError);
});

it.each<[string, unknown]>([
  ['an object', { ...original, metadata: { ...original.metadata, labels: { 'a/b~c': 'y' } }, data: undefined }],
  ['admitChanged()', admitChanged({ ...original, data: { a: '1', b: '2' } })],
  ['admitPatched()', admitPatched([{ op: 'add', path: '/data/b', value: '2' }])],
  ['a different shape', { ...original, data: { z: '\u2028<>&' } }],
])('converts %s to a patch that produces it', (_, returned) => {
  const { patch: encoded = '', patchType, allowed } = responseTo(returned);
  expect({ patchType, allowed }).toEqual({ patchType: 'JSONPatch', allowed: true });
  const operations = JSON.parse(Buffer.from(encoded, 'base64').toString()) as JsonPatchOperation[];
  const wanted =
    typeof returned === 'object' && returned !== null && 'operations' in returned
      ? { ...original, data: { a: '1', b: '2' } }
      : typeof returned === 'object' && returned !== null && 'object' in returned
        ? returned.object
        : returned;
  expect(applyJsonPatch(original, operations)).toEqual(JSON.parse(JSON.stringify(wanted)));
});

it('sends no patch when nothing changed', () => {
  expect(responseTo(structuredClone(original))).toEqual({ uid: 'uid-1', allowed: true });
  expect(responseTo(admitChanged({ ...original, immutable: undefined }))).toEqual({ uid: 'uid-1', allowed: true });
  expect(responseTo(admitPatched([]))).toEqual({ uid: 'uid-1', allowed: true });
});

it('detects a change that the handler made in place', () => {
  const object = structuredClone(original) as { data?: object };
  object.data = { a: '2' };
  expect(responseTo(object).patch).toBeDefined();
});

it('limits warnings to what headers and the API server allow', () => {
  const { warnings } = responseTo(admit({ warnings: ['a\r\nb', '', '\t', 'c'.repeat(5000), 'd'] }));
  expect(warnings).toEqual(['a b', 'c'.repeat(4093)]);
  expect(responseTo(deny({ message: 'no', warnings: ['w'] })).warnings).toEqual(['w']);
});

it.each([undefined, null, true, 'allow', []])('does not accept %j as a response', (returned) => {
  expect(() => responseTo(returned)).toThrow(expect.objectContaining({ code: 'BOWLINE_WEBHOOK_NO_ANSWER' }));
});

it('does not accept an object as a response of a validating webhook', () => {
  for (const returned of [original, admitChanged(original), admitPatched([])]) {
    expect(() => responseTo(returned, 'validating')).toThrow(
      expect.objectContaining({ code: 'BOWLINE_WEBHOOK_NO_ANSWER' }),
    );
  }
});
