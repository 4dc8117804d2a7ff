import { readFileSync } from 'node:fs';
import type { JsonObject } from '@bowline/machinery';
import { describe, expect, test } from 'vitest';
import { RECORDED_AT } from './record.test-support.ts';
import { isPartOf, refusalOf, replay, type StepOutcome, written } from './replay.test-support.ts';
import { SEQUENCES } from './sequences.test-support.ts';

/** What the real server answered; the behaviour test next to this one records it, and fails when it answers otherwise. */
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
      // What is wrong with an object as a whole is not for tracking to say.
      if (outcome?.error && !error && outcome.error.reason !== 'Conflict' && outcome.status !== 500) continue;
      expect(error && refusalOf(error), label).toEqual(outcome?.error);
      if (error) continue;
      expect(managedFields, label).toEqual((after?.metadata as JsonObject | undefined)?.managedFields);
      if (merged) expect(isPartOf(written(merged, kind, step.on), after), label).toBe(true);
      before = after;
    }
  });
});
