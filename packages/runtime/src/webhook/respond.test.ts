import type { ConfigMap } from '@bowline/kubernetes';
import { applyJsonPatch, type JsonPatchOperation } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { type AnyAnswer, admit, admitChanged, admitPatched, deny } from './answer.ts';
import { respond } from './respond.ts';

const hook = { type: 'mutating', name: 'gate' } as const;
const came: ConfigMap = { metadata: { name: 'a', labels: { 'a/b~c': 'x' } }, data: { a: '1' } };
const answerTo = (returned: unknown, type: 'mutating' | 'validating' = 'mutating') =>
  respond({ ...hook, type }, 'uid-1', returned, () => structuredClone(came));

it('allows with only the uid', () => {
  expect(answerTo(admit())).toEqual({ uid: 'uid-1', allowed: true });
  expect(answerTo(admit(), 'validating')).toEqual({ uid: 'uid-1', allowed: true });
});

it.each<[string, AnyAnswer, object]>([
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
])('denies with %s', (_, answer, status) => {
  expect(answerTo(answer)).toEqual({ uid: 'uid-1', allowed: false, status });
});

it('rejects a denial with a code outside 400 to 499', () => {
  expect(() => deny({ message: 'x', code: 200 })).toThrow(RangeError);
  expect(() => deny({ message: 'x', code: 500 })).toThrow(RangeError);
});

it.each<[string, unknown]>([
  ['an object', { ...came, metadata: { ...came.metadata, labels: { 'a/b~c': 'y' } }, data: undefined }],
  ['admitChanged()', admitChanged({ ...came, data: { a: '1', b: '2' } })],
  ['admitPatched()', admitPatched([{ op: 'add', path: '/data/b', value: '2' }])],
  ['a different shape', { ...came, data: { z: '\u2028<>&' } }],
])('converts %s to a patch that produces it', (_, returned) => {
  const { patch: encoded = '', patchType, allowed } = answerTo(returned);
  expect({ patchType, allowed }).toEqual({ patchType: 'JSONPatch', allowed: true });
  const operations = JSON.parse(Buffer.from(encoded, 'base64').toString()) as JsonPatchOperation[];
  const wanted =
    typeof returned === 'object' && returned !== null && 'operations' in returned
      ? { ...came, data: { a: '1', b: '2' } }
      : typeof returned === 'object' && returned !== null && 'object' in returned
        ? returned.object
        : returned;
  expect(applyJsonPatch(came, operations)).toEqual(JSON.parse(JSON.stringify(wanted)));
});

it('sends no patch when nothing changed', () => {
  expect(answerTo(structuredClone(came))).toEqual({ uid: 'uid-1', allowed: true });
  expect(answerTo(admitChanged({ ...came, immutable: undefined }))).toEqual({ uid: 'uid-1', allowed: true });
  expect(answerTo(admitPatched([]))).toEqual({ uid: 'uid-1', allowed: true });
});

it('detects a change that the handler made in place', () => {
  const object = structuredClone(came) as { data?: object };
  object.data = { a: '2' };
  expect(answerTo(object).patch).toBeDefined();
});

it('limits warnings to what headers and the API server allow', () => {
  const { warnings } = answerTo(admit({ warnings: ['a\r\nb', '', '\t', 'c'.repeat(5000), 'd'] }));
  expect(warnings).toEqual(['a b', 'c'.repeat(4093)]);
  expect(answerTo(deny({ message: 'no', warnings: ['w'] })).warnings).toEqual(['w']);
});

it.each([undefined, null, true, 'allow', []])('does not accept %j as a response', (returned) => {
  expect(() => answerTo(returned)).toThrow(expect.objectContaining({ code: 'BOWLINE_WEBHOOK_NO_ANSWER' }));
});

it('does not accept an object as a response of a validating webhook', () => {
  for (const returned of [came, admitChanged(came), admitPatched([])]) {
    expect(() => answerTo(returned, 'validating')).toThrow(
      expect.objectContaining({ code: 'BOWLINE_WEBHOOK_NO_ANSWER' }),
    );
  }
});
