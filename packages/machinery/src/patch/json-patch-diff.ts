import { createPatch } from 'rfc6902';
import { isSameJson } from './json.ts';
import type { JsonPatchOperation } from './json-patch.ts';

// The comparison of two lists takes time, memory and stack in proportion to the product of their lengths.
const LARGEST_LIST_COMPARISON = 4096;

/**
 * diffJsonPatch gives the RFC 6902 operations that turn `from` into `to`, few of them: nothing when they are the same JSON.
 * Undefined members count as absent. Lists whose lengths multiply to more than 4096 are replaced as a whole.
 */
export function diffJsonPatch(from: unknown, to: unknown): JsonPatchOperation[] {
  return createPatch(from, to, (input: unknown, output: unknown, pointer): JsonPatchOperation[] | undefined => {
    if (!Array.isArray(input) || !Array.isArray(output)) return undefined;
    if (input.length * output.length <= LARGEST_LIST_COMPARISON) return undefined;
    return isSameJson(input, output) ? [] : [{ op: 'replace', path: pointer.toString(), value: output }];
  });
}
