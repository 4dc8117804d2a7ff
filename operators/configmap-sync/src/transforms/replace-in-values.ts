import { anyGlob, BowlineError } from '@bowline/machinery';
import { compileReplacement } from '@bowline/machinery/schema';
import type { Transform } from '../api/config-map-sync.ts';
import type { Entry } from '../content/content.ts';
import { ContentProblem } from '../content/content-problem.ts';
import { MAX_CONTENT_BYTES } from '../content/content-size.ts';

/**
 * The maximum number of steps for all replacements of one spec together: enough for a simple pattern over a whole
 * ConfigMap.
 */
const MAX_STEPS = 4_000_000;

/** The minimum number of steps for a value, so that short values among long ones can be processed. */
const MIN_STEPS = 100;

/** replaceInValues replaces every match of a pattern in the values of some keys; binary values are left unchanged. */
export function replaceInValues(
  entries: ReadonlyMap<string, Entry>,
  { keys, pattern, replacement }: NonNullable<Transform['replace']>,
  { field, replaceCount }: { readonly field: string; readonly replaceCount: number },
): Map<string, Entry> {
  const isSelected = anyGlob(keys);
  const selected = [...entries].filter(([key, { type }]) => type === 'd' && isSelected(key));
  const length = selected.reduce((sum, [, { value }]) => sum + value.length, 0);
  const result = new Map(entries);
  // All results together must fit into a ConfigMap: otherwise they could exhaust the memory one after the other.
  let left = MAX_CONTENT_BYTES;
  try {
    const compiled = compileReplacement(pattern, replacement);
    for (const [key, { type, value }] of selected) {
      const share = Math.floor((MAX_STEPS / replaceCount) * (value.length / Math.max(length, 1)));
      const replaced = compiled.replaceAll(value, { maxSteps: share + MIN_STEPS, maxLength: left });
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
