import { expect, it } from 'vitest';
import { differences } from './differences.ts';
import { KNOWN } from './known.ts';
import { type NormalisedResponse, normalised } from './normalise.ts';
import { put, type Step } from './step.ts';

it('reports a missing value once, at its topmost path, and identifies list elements by name', () => {
  const real = {
    a: [
      { name: 'x', b: 1 },
      { name: 'y', b: 2 },
    ],
    c: { d: 1 },
  };
  const ours = { a: [{ name: 'y', b: 3 }], c: { d: 1 } };
  expect(differences(real, ours)).toEqual([
    { path: 'a.x', real: { name: 'x', b: 1 }, ours: undefined },
    { path: 'a.y.b', real: 2, ours: 3 },
  ]);
});

it('reports another order of the same elements', () => {
  const [found] = differences([{ name: 'x' }, { name: 'y' }], [{ name: 'y' }, { name: 'x' }]);
  expect(found?.path).toBe('.order');
});

it('ignores server-generated values, but not their presence', () => {
  const body = { metadata: { uid: 'x', name: 'a', namespace: 'case-1' }, message: 'a in case-1' };
  const normalisedResponse = normalised({ status: 200, headers: {}, body }, { namespace: 'case-1', own: 'own-1' });
  expect(normalisedResponse.body).toEqual({
    metadata: { uid: 'DRAWN', name: 'a', namespace: 'NS' },
    message: 'a in NS',
  });
});

it('lists at most 40 known differences, each with a unique name and a reason', () => {
  expect(KNOWN.length).toBeLessThanOrEqual(40);
  expect(new Set(KNOWN.map(({ name }) => name)).size).toBe(KNOWN.length);
  expect(KNOWN.filter(({ reason }) => reason.length < 20)).toEqual([]);
});

const NAMES = { namespace: 'case-1', own: 'own-1' };

function refusal(...causes: readonly (readonly [field: string, message: string])[]): NormalisedResponse {
  const reported = causes.map(([field, message]) => ({ field, message, reason: 'FieldValueInvalid' }));
  const body = { kind: 'Status', code: 422, message: 'a is invalid: b', details: { causes: reported } };
  return normalised({ status: 422, headers: {}, body }, NAMES);
}

/** The names of the known differences between two responses; undefined for an unknown one. */
function known(step: Step, real: NormalisedResponse, ours: NormalisedResponse): readonly (string | undefined)[] {
  return differences(real, ours).map(
    (each) => KNOWN.find(({ isOf }) => isOf({ ...each, case: 'a', step, responses: { real, ours } }))?.name,
  );
}

it('ignores the order of members and generated values in an object quoted by a message', () => {
  const quoted = (object: unknown): NormalisedResponse =>
    refusal(['patch', `Invalid value: ${JSON.stringify(JSON.stringify(object))}: json: no`]);
  const [real, ours] = [quoted({ a: 1, uid: 'x', b: { c: 2, d: 3 } }), quoted({ b: { d: 3, c: 2 }, uid: 'y', a: 1 })];
  expect(differences(real, ours)).toEqual([]);
  expect(differences(real, quoted({ a: 1, uid: 'x', b: { c: 2, d: 4 } }))).toHaveLength(2);
  const plain = (labels: string): NormalisedResponse =>
    refusal(['spec.selector', `Invalid value: {"matchLabels":${labels}}: no: {`]);
  expect(differences(plain('{"a":"b","c":"}: "}'), plain('{"c":"}: ","a":"b"}'))).toEqual([]);
});

const FORBIDDEN =
  'Forbidden: pod updates may not change fields other than `a` (allow it to be set to 1 if it was previously negative)';
const POD = put('/api/v1/namespaces/NS/pods/a', {});
const JOB = put('/apis/batch/v1/namespaces/NS/jobs/a', {});
const immutable = (field: string, value: string, words = 'field is immutable'): readonly [string, string] => [
  field,
  `Invalid value: ${value}: ${words}`,
];

it.each([
  ['the difference that the real server shows', POD, ['spec', `${FORBIDDEN}\n@@ -1 +1 @@`], ['spec', FORBIDDEN], true],
  ['another field', POD, ['spec', `${FORBIDDEN}\n@@ -1 +1 @@`], ['spec.nodeName', FORBIDDEN], false],
  ['another message', POD, ['spec', `${FORBIDDEN}\n@@ -1 +1 @@`], ['spec', FORBIDDEN.replace('may', 'must')], false],
  [
    'the template of a Job',
    JOB,
    immutable('spec.template', '{"Spec":{}}'),
    immutable('spec.template', '{"spec":{}}'),
    true,
  ],
  ['a selector of a Job', JOB, immutable('spec.selector', '{"a":1}'), immutable('spec.selector', '{"a":2}'), false],
  [
    'another message about a Job',
    JOB,
    immutable('spec.template', '{"Spec":{}}'),
    immutable('spec.template', '{"spec":{}}', 'no'),
    false,
  ],
] as const)('accepts exactly the known differences: %s', (_what, step, real, ours, isKnown) => {
  const names = known(step, refusal(real), refusal(ours));
  expect(names).toHaveLength(2);
  expect(names.every((name) => (name !== undefined) === isKnown)).toBe(true);
});

it('does not accept a problem that only one server reports', () => {
  expect(known(POD, refusal(['spec', `${FORBIDDEN}\n@@`], ['a', 'b']), refusal(['a', 'b']))).toEqual([undefined]);
});
