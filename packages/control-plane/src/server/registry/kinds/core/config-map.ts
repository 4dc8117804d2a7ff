import type { ConfigMap } from '@bowline/kubernetes';
import { canonicalJson, type FieldProblem, MAX_CONTENT_BYTES } from '@bowline/machinery';
import type { Draft } from '../../api-resource.ts';
import type { KindRules } from '../../built-in-strategy.ts';
import { AGE, as, column } from '../shared/column.ts';
import { immutableProblem, keyProblems, tooLong } from '../shared/content-keys.ts';

type Content = Readonly<Record<string, string>>;

/** configMapRules limits the size of a ConfigMap, and rejects changes of an immutable one. */
export const configMapRules: KindRules = {
  validate(object, old) {
    const data = (object.data ?? {}) as Content;
    const binaryData = (object.binaryData ?? {}) as Content;
    const problems: FieldProblem[] = [];
    let bytes = 0;
    for (const [key, value] of Object.entries(data)) {
      problems.push(...keyProblems('data', key));
      if (Object.hasOwn(binaryData, key)) {
        const message = `Invalid value: ${JSON.stringify(key)}: duplicate of key present in binaryData`;
        problems.push({ field: `data[${key}]`, reason: 'FieldValueInvalid', message });
      }
      bytes += Buffer.byteLength(value);
    }
    for (const [key, value] of Object.entries(binaryData)) {
      problems.push(...keyProblems('binaryData', key));
      bytes += Buffer.byteLength(value, 'base64');
    }
    if (bytes > MAX_CONTENT_BYTES) problems.push(tooLong(''));
    return old ? [...problems, ...frozen(object, old)] : problems;
  },
  columns: [
    column('Data', 'Number of values.', (object) => {
      const { data, binaryData } = as<ConfigMap>(object);
      return sizeOf(data) + sizeOf(binaryData);
    }),
    AGE,
  ],
};

function sizeOf(content: unknown): number {
  return Object.keys(content ?? {}).length;
}

function frozen(object: Draft, old: Draft): FieldProblem[] {
  if (old.immutable !== true) return [];
  const problems: FieldProblem[] = [];
  if (object.immutable !== true) problems.push(immutableProblem('immutable'));
  for (const field of ['data', 'binaryData']) {
    if (canonicalJson(object[field] ?? {}) !== canonicalJson(old[field] ?? {})) problems.push(immutableProblem(field));
  }
  return problems;
}
