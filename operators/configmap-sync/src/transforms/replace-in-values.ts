import { anyGlob, BowlineError } from '@bowline/machinery';
import { compileReplacement } from '@bowline/machinery/schema';
import type { Transform } from '../api/config-map-sync.ts';
import type { Entry } from '../content/content.ts';
import { ContentProblem } from '../content/content-problem.ts';
import { MOST_CONTENT_BYTES } from '../content/content-size.ts';

/**
 * The maximum number of steps for all replacements of one spec together: enough for a simple pattern over a whole
 * ConfigMap.
 */
const MOST_STEPS = 4_000_000;

/** The minimum number of steps for a value, so that short values among long ones can be processed. */
const LEAST_STEPS = 100;

/** replaceInValues replaces every match of a pattern in the values of some keys; binary values are left unchanged. */
export function replaceInValues(
  entries: ReadonlyMap<string, Entry>,
  { keys, pattern, replacement }: NonNullable<Transform['replace']>,
  { field, replaces }: { readonly field: string; readonly replaces: number },
): Map<string, Entry> {
  const isMeant = anyGlob(keys);
  const meant = [...entries].filter(([key, { type }]) => type === 'd' && isMeant(key));
  const length = meant.reduce((sum, [, { value }]) => sum + value.length, 0);
  const result = new Map(entries);
  // All results together must fit into a ConfigMap: otherwise they could exhaust the memory one after the other.
  let left = MOST_CONTENT_BYTES;
  try {
    const compiled = compileReplacement(pattern, replacement);
    for (const [key, { type, value }] of meant) {
      const share = Math.floor((MOST_STEPS / replaces) * (value.length / Math.max(length, 1)));
      const replaced = compiled.replaceAll(value, { maxSteps: share + LEAST_STEPS, maxLength: left });
      left -= replaced.length;
      result.set(key, { type, value: replaced });
    }
  } catch (cause) {
    if (!(cause instanceof BowlineError)) throw cause;
    const isTooLong = cause.code === 'BOWLINE_REPLACEMENT_TOO_LONG';
    const message = isTooLong
      ? 'the values after replacement do not fit into a ConfigMap; use a shorter replacement'
      : cause.message;
    throw new ContentProblem(isTooLong ? 'TooLarge' : 'InvalidSpec', field, message, { cause });
  }
  return result;
}
