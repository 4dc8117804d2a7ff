import { isObject } from '@bowline/machinery';
import { editJson } from '../../engine/transforms/edit-json.ts';
import { applyTransforms, type Transform } from '../../engine/transforms/transform.ts';

/**
 * reverseTransforms returns what the repository must contain so that a sync places exactly this content. `original` is what the
 * repository has now. Only the system name can be reversed. Undefined: the content would not be the same after the next sync.
 */
export function reverseTransforms(
  content: Buffer,
  transforms: readonly Transform[],
  original: Buffer | undefined,
): Buffer | undefined {
  if (transforms.length === 0) return content;
  if (original === undefined || !transforms.every(({ kind }) => kind === 'system-name')) return undefined;
  try {
    const parsed: unknown = JSON.parse(original.toString('utf8').replace(/^\ufeff/, ''));
    const name: unknown = isObject(parsed) ? parsed.systemName : undefined;
    const reversed =
      typeof name === 'string'
        ? editJson(content, { path: ['systemName'], value: name, keepsType: false, creates: false }).bytes
        : content;
    return applyTransforms(reversed, transforms, '').bytes.equals(content) ? reversed : undefined;
  } catch {
    // One of the two is not JSON.
    return undefined;
  }
}
