import { readFileSync } from 'node:fs';
import { integerBelow, type JsonObject, pick, type Random, seededRandom } from '@bowline/machinery';
import { describe, expect, test } from 'vitest';
import { RECORDED_AT } from './record.test-support.ts';
import { isPartOf, refusalOf, replay, type StepOutcome, written } from './replay.test-support.ts';
import type { Step } from './sequence.test-support.ts';
import { SEQUENCES } from './sequences.test-support.ts';

/** The real server's responses; the behaviour test next to this one records them, and fails when they change. */
const recorded = readFileSync(new URL('testdata/recorded-sequences.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as StepOutcome & { readonly sequence: string });

describe('trackFields agrees with the real server on', () => {
  test.each(SEQUENCES)('$name', ({ name, kind, steps }) => {
    let before: JsonObject | undefined;
    const outcomes = recorded.filter(({ sequence }) => sequence === name);
    expect(outcomes).toHaveLength(steps.length);
    for (const [index, step] of steps.entries()) {
      const outcome = outcomes[index];
      const label = `step ${index}: ${JSON.stringify(step)}`;
      const after = outcome?.after ?? before;
      const { error, managedFields, merged } = replay(kind, step, before, after, RECORDED_AT + index * 1_000);
      // Field tracking does not report problems of an object as a whole.
      if (outcome?.error && !error && outcome.error.reason !== 'Conflict' && outcome.status !== 500) continue;
      expect(error && refusalOf(error), label).toEqual(outcome?.error);
      if (error) continue;
      expect(managedFields, label).toEqual((after?.metadata as JsonObject | undefined)?.managedFields);
      if (merged) expect(isPartOf(written(merged, kind, step.on), after), label).toBe(true);
      before = after;
    }
  });
});

describe('trackFields', () => {
  test('accepts or refuses any input without an internal error', () => {
    const random = seededRandom(6);
    const kinds = ['ConfigMap', 'PodTemplate', 'Widget', 'Free'] as const;
    let before: JsonObject | undefined;
    let refused = 0;
    for (let run = 0; run < 1_000; run++) {
      const kind = pick(random, kinds);
      const sent = { metadata: { ...(garbage(random, 3) as object), managedFields: entries(random) }, ...spec(random) };
      const step: Step = pick(random, [
        { as: 'a', create: sent },
        { as: 'b', put: sent },
        { as: 'c', apply: { ...spec(random), metadata: garbage(random, 3) }, force: random.next() < 0.5 },
      ]);
      const after = { ...sent, metadata: { ...sent.metadata, managedFields: undefined } };
      const { error, managedFields, merged } = replay(
        kind,
        step,
        'create' in step ? undefined : before,
        after,
        RECORDED_AT,
      );
      if (error) refused++;
      if (error) expect([409, 500]).toContain(error.code);
      else before = { ...(merged ?? sent), metadata: { ...((merged ?? sent).metadata as object), managedFields } };
    }
    expect(refused).toBeGreaterThan(100);
    expect(refused).toBeLessThan(500);
  });
});

const NAMES = [
  'a',
  'spec',
  'data',
  'labels',
  'finalizers',
  'containers',
  'map',
  'set',
  'k',
  '__proto__',
  'constructor',
];

function garbage(random: Random, depth: number): unknown {
  if (depth > 0 && random.next() < 0.7) {
    const members = Array.from({ length: integerBelow(random, 4) }, () => garbage(random, depth - 1));
    if (depth < 3 && random.next() < 0.4) return members;
    return JSON.parse(
      `{${[...new Set(members.map(() => pick(random, NAMES)))].map((name, index) => `"${name}":${JSON.stringify(members[index])}`).join(',')}}`,
    ) as unknown;
  }
  return depth === 3 ? {} : pick(random, [null, 0, -1.5, true, '', 'text', '\u2028<', [], {}]);
}

const spec = (random: Random): object => ({
  [pick(random, ['spec', 'data', 'template', 'status'])]: random.next() < 0.1 ? nested(900) : garbage(random, 3),
});

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level++) value = { a: value };
  return value;
}

const entries = (random: Random): unknown =>
  pick(random, [
    null,
    [],
    [null],
    [{}, {}],
    [{ manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: garbage(random, 3) }],
    [
      {
        manager: 'x',
        operation: 'Update',
        apiVersion: '/',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': nested(900) },
      },
    ],
    [
      {
        operation: 'Update',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'k:{}': {}, 'v:[1]': {} } },
      },
    ],
  ]);
