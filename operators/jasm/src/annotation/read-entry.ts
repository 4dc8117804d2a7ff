import { isObject, quoteText } from '@bowline/machinery';
import { applyDefaults, type FieldProblem, type StructuralSchema, validate } from '@bowline/machinery/schema';
import { type EntryProblem, entryRules, refreshIntervalMs } from './entry-rules.ts';
import { type Entry, entrySchema, keyListSchema, keyMapSchema } from './entry-schema.ts';
import { requestHash } from './request-hash.ts';
import type { KeySelection, SecretSyncRequest } from './secret-sync-request.ts';
import type { TemplateBudget } from './template-budget.ts';

/** ReadEntry is a parsed entry: its request, or its problems. */
export type ReadEntry =
  | { readonly request: SecretSyncRequest; readonly problems?: undefined }
  | { readonly request?: undefined; readonly problems: readonly EntryProblem[] };

const KNOWN_FIELDS: Readonly<Record<string, StructuralSchema>> = entrySchema.json.properties ?? {};

/** ENTRY_FIELDS are the names of the fields of an entry. */
export const ENTRY_FIELDS: readonly string[] = Object.keys(KNOWN_FIELDS);

/** readEntry parses one entry of the annotation into a request; `field` is its path in the annotation. */
export function readEntry(given: unknown, field: string, templates: TemplateBudget): ReadEntry {
  const value = withNumberZero(given);
  const malformed = [...emptyFields(value), ...unknownFields(value), ...schemaProblems(value, entrySchema.json, '')];
  if (malformed.length > 0) return { problems: oncePerField(malformed) };
  // The checks above guarantee that it matches the schema.
  const entry = applyDefaults(value, entrySchema.json) as Entry;
  const badKeys = keysProblems(entry.keys);
  if (badKeys.length > 0) return { problems: oncePerField(badKeys) };
  const keys = selectionOf(entry.keys);
  const problems = [...entryRules(entry, keys), ...templates.problems(entry.template)];
  return problems.length > 0 ? { problems } : { request: requestOf(entry, keys, field) };
}

/** YAML reads `refreshInterval: 0` as a number, and users write it for never. */
function withNumberZero(value: unknown): unknown {
  return isObject(value) && value.refreshInterval === 0 ? { ...value, refreshInterval: '0' } : value;
}

function emptyFields(value: unknown): readonly EntryProblem[] {
  if (!isObject(value)) return [];
  return Object.keys(value)
    .filter((field) => value[field] === null)
    .map((field) => ({ field, message: 'Invalid value: null: must not be null; set a value, or remove the field' }));
}

function unknownFields(value: unknown): readonly EntryProblem[] {
  if (!isObject(value)) return [];
  return Object.keys(value)
    .filter((field) => !ENTRY_FIELDS.includes(field))
    .map((field) => ({ field, message: unknownField(field) }));
}

function unknownField(field: string): string {
  if (field === 'namespace') return "Forbidden: the Secret is always in the pod's own namespace; remove the field";
  const suggestion = ENTRY_FIELDS.find((known) => known.toLowerCase() === field.toLowerCase());
  const advice =
    suggestion === undefined ? `supported fields: ${ENTRY_FIELDS.join(', ')}` : `use ${suggestion} instead`;
  return `Forbidden: unknown field; ${advice}`;
}

function schemaProblems(value: unknown, schema: StructuralSchema, path: string): readonly EntryProblem[] {
  // The path is prepended afterwards, so that messages describe only the value.
  return validate(value, schema).map((problem) => {
    const below = problem.field === '<nil>' ? '' : problem.field;
    const field = below.startsWith('[') || below === '' || path === '' ? `${path}${below}` : `${path}.${below}`;
    return { field, message: reworded(problem) };
  });
}

function reworded({ field, reason, message }: FieldProblem): string {
  if (reason === 'FieldValueRequired') {
    const description = KNOWN_FIELDS[field]?.description ?? '';
    return `${message}: ${description.charAt(0).toLowerCase()}${description.slice(1).replace(/\.$/, '')}`;
  }
  // `Invalid value: "integer": secretName in body must be of type string: "integer"` repeats everything.
  const short = message.replace(/^(Invalid value: (?:"[^"]*"|\d+): )\S* ?in body /, '$1');
  if (reason !== 'FieldValueTypeInvalid') return short;
  return `${short.replace(/: "[a-z]+"$/, '')}${hint(short)}`;
}

function hint(typeProblem: string): string {
  if (typeProblem.includes('of type boolean')) return '; write true or false, without quotes';
  return /^Invalid value: "(integer|number|boolean)".*of type string/.test(typeProblem) ? '; put it in quotes' : '';
}

function keysProblems(keys: unknown): readonly EntryProblem[] {
  if (keys === undefined) return [];
  if (Array.isArray(keys)) return schemaProblems(keys, keyListSchema.json, 'keys');
  if (isObject(keys)) return schemaProblems(keys, keyMapSchema.json, 'keys');
  const found = quoteText(typeof keys);
  return [
    {
      field: 'keys',
      message: `Invalid value: ${found}: must be a list of keys, or a map from keys of the Secret to keys of the source`,
    },
  ];
}

function selectionOf(keys: unknown): readonly KeySelection[] | undefined {
  if (keys === undefined) return undefined;
  // Both types were checked above.
  if (Array.isArray(keys)) return (keys as readonly string[]).map((key) => ({ target: key, source: key }));
  return Object.entries(keys as Readonly<Record<string, string>>).map(([target, source]) => ({ target, source }));
}

function requestOf(entry: Entry, keys: readonly KeySelection[] | undefined, field: string): SecretSyncRequest {
  const { provider, path, secretName, missingKeyPolicy, versionStage, versionId, type, format, key, decode } = entry;
  const { template, creationPolicy, deletionPolicy, immutable, region, role, restart } = entry;
  const request = {
    field,
    provider,
    path,
    secretName,
    keys,
    optionalKeys: entry.optionalKeys ?? [],
    missingKeyPolicy,
    versionStage,
    versionId,
    type,
    format,
    key,
    decode,
    template,
    creationPolicy,
    deletionPolicy,
    refreshIntervalMs: refreshIntervalMs(entry.refreshInterval) ?? 0,
    immutable,
    region,
    role,
    restart,
  };
  return { ...request, hash: requestHash(request) };
}

/** A value of the wrong type violates other rules too; the first problem is the cause. */
function oncePerField(problems: readonly EntryProblem[]): readonly EntryProblem[] {
  return [...new Map(problems.toReversed().map((problem) => [problem.field, problem])).values()].reverse();
}
