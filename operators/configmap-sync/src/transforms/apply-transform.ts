import { contentKeyProblem } from '@bowline/machinery';
import { cachedTemplate } from '@bowline/machinery/template';
import type { Transform } from '../api/config-map-sync.ts';
import type { Entry } from '../content/content.ts';
import { ContentProblem } from '../content/content-problem.ts';
import { MAX_CONTENT_BYTES } from '../content/content-size.ts';
import { replaceInValues } from './replace-in-values.ts';

/** Entries is content between transforms. */
export type Entries = ReadonlyMap<string, Entry>;

/** TransformContext describes the position of a transform. */
export interface TransformContext {
  /** `spec.transforms[1]`. */
  readonly field: string;
  /** The number of transforms of the spec that replace in values: they share the time limit. */
  readonly replaceCount: number;
}

/**
 * The size limit of content between transforms. A later transform may drop what an earlier one produced, so this is
 * more than a ConfigMap holds.
 */
const MAX_INTERMEDIATE_BYTES = 4 * MAX_CONTENT_BYTES;

/** applyTransform applies one transform. It throws a ContentProblem that names the field at fault. */
export function applyTransform(entries: Entries, transform: Transform, context: TransformContext): Map<string, Entry> {
  const { rename, prefix, suffix, set, remove, replace, template } = transform;
  const at = (member: string): string => `${context.field}.${member}`;
  if (rename) return renameKeys(entries, (key) => (key === rename.from ? rename.to : key), at('rename'));
  if (prefix !== undefined) return renameKeys(entries, (key) => `${prefix}${key}`, at('prefix'));
  if (suffix !== undefined) return renameKeys(entries, (key) => `${key}${suffix}`, at('suffix'));
  if (set) return withValue(entries, set.key, set.value, at('set'));
  if (remove) return new Map([...entries].filter(([key]) => key !== remove.key));
  if (replace) return replaceInValues(entries, replace, { field: at('replace'), replaceCount: context.replaceCount });
  if (template)
    return withValue(entries, template.key, renderTemplate(entries, template.template, at('template')), at('template'));
  return new Map(entries);
}

function renameKeys(entries: Entries, rename: (key: string) => string, field: string): Map<string, Entry> {
  const renamed = new Map<string, Entry>();
  const origins = new Map<string, string>();
  for (const [key, entry] of entries) {
    const newKey = rename(key);
    checkKey(newKey, field);
    const other = origins.get(newKey);
    if (other !== undefined) {
      const names = [other, key].map((each) => JSON.stringify(each)).join(' and ');
      throw new ContentProblem(
        'InvalidSpec',
        field,
        `the keys ${names} would both become the key ${JSON.stringify(newKey)}; remove one of them first, or choose another name`,
      );
    }
    renamed.set(newKey, entry);
    origins.set(newKey, key);
  }
  return renamed;
}

function withValue(entries: Entries, key: string, value: string, field: string): Map<string, Entry> {
  checkKey(key, field);
  const all = new Map(entries).set(key, { type: 'd', value });
  let bytes = 0;
  for (const entry of all.values()) bytes += Buffer.byteLength(entry.value);
  if (bytes <= MAX_INTERMEDIATE_BYTES) return all;
  throw new ContentProblem(
    'TooLarge',
    field,
    `the content with this value exceeds ${MAX_INTERMEDIATE_BYTES} bytes; shorten the value, or remove keys first`,
  );
}

function checkKey(key: string, field: string): void {
  const problem = contentKeyProblem(key);
  if (problem) throw new ContentProblem('InvalidSpec', field, `the key ${JSON.stringify(key)} ${problem}`);
}

/** Expressions of a template see only text: binary values have no place in it. */
function renderTemplate(entries: Entries, template: string, field: string): string {
  const text = [...entries].filter(([, { type }]) => type === 'd').map(([key, { value }]) => [key, value]);
  try {
    return cachedTemplate(template).render(Object.fromEntries(text) as Record<string, string>);
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    throw new ContentProblem('InvalidSpec', field, cause.message, { cause });
  }
}
