import {
  contentKeyProblem,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  parseDuration,
  quoteText,
} from '@bowline/machinery';
import { missingForType, reservedType } from '../api/secret-type.ts';
import type { Entry } from './entry-schema.ts';
import type { KeySelection } from './secret-sync-request.ts';

/** EntryProblem reports what is wrong with one field of an entry. */
export interface EntryProblem {
  /** The path below the entry: `keys.DB`. Empty for the entry itself. */
  readonly field: string;
  readonly message: string;
}

const MIN_REFRESH_MS = 60_000;
// A year: a longer interval is meant as never.
const MAX_REFRESH_MS = 365 * 24 * 3_600_000;

/**
 * entryRules checks the rules for the fields of an entry beyond its schema, so that everything that can be rejected now
 * is not rejected later.
 */
export function entryRules(entry: Entry, keys: readonly KeySelection[] | undefined): readonly EntryProblem[] {
  return [
    ...textProblems(entry),
    ...nameProblems(entry),
    ...keyProblems(entry, keys),
    ...policyProblems(entry),
    ...typeProblems(entry, keys),
  ];
}

/** refreshIntervalMs parses a refresh interval into milliseconds, and returns undefined if it is not valid. */
export function refreshIntervalMs(text: string): number | undefined {
  try {
    const ms = parseDuration(text);
    if (ms === 0) return 0;
    return ms >= MIN_REFRESH_MS && ms <= MAX_REFRESH_MS ? ms : undefined;
  } catch {
    return undefined;
  }
}

// These fields are copied into requests, annotations and messages, and no store allows these characters in a name.
const UNWRITABLE = /[\p{Cc}\p{Surrogate}\u2028\u2029]/u;

function textProblems(entry: Entry): readonly EntryProblem[] {
  return (['path', 'versionStage', 'versionId', 'role'] as const).flatMap((field) =>
    UNWRITABLE.test(entry[field] ?? '') ? [invalid(field, entry[field], 'must not contain control characters')] : [],
  );
}

function nameProblems({
  secretName,
  region,
  type,
  refreshInterval,
  versionStage,
  versionId,
}: Entry): readonly EntryProblem[] {
  const problems = [
    ...dnsSubdomainProblems(secretName).map((rule) => invalid('secretName', secretName, rule)),
    ...(region === undefined ? [] : dnsLabelProblems(region).map((rule) => invalid('region', region, rule))),
    ...labelKeyProblems(type).map((rule) => invalid('type', type, rule)),
  ];
  if (refreshIntervalMs(refreshInterval) === undefined)
    problems.push(
      invalid(
        'refreshInterval',
        refreshInterval,
        'must be a duration such as 10m or 1h30m, from 1m to 8760h, or 0 for never',
      ),
    );
  if (versionStage !== undefined && versionId !== undefined)
    problems.push(forbidden('versionId', 'cannot be combined with versionStage; remove one of them'));
  return problems;
}

function keyProblems(
  { key, format, keys: given, optionalKeys = [], template = {} }: Entry,
  keys: readonly KeySelection[] | undefined,
): readonly EntryProblem[] {
  const problems: EntryProblem[] = [];
  const checkKey = (field: string, name: string): void => {
    const problem = contentKeyProblem(name);
    if (problem) problems.push(invalid(field, name, `a key of a Secret ${problem}`));
  };
  for (const [index, { target }] of (keys ?? []).entries())
    checkKey(Array.isArray(given) ? `keys[${index}]` : `keys.${target}`, target);
  for (const name of Object.keys(template)) checkKey(`template.${name}`, name);
  if (format === 'json') {
    if (key !== undefined)
      problems.push(
        forbidden('key', 'format json takes the keys from the JSON object; remove key, or set format to raw or binary'),
      );
    const sources = keys && new Set(keys.map(({ source }) => source));
    for (const [index, source] of optionalKeys.entries())
      if (sources && !sources.has(source))
        problems.push(
          invalid(`optionalKeys[${index}]`, source, 'is not in keys; add it to keys, or remove it from optionalKeys'),
        );
    return problems;
  }
  if (key === undefined)
    problems.push({ field: 'key', message: `Required value: format ${format} needs the key to store the value under` });
  else checkKey('key', key);
  for (const [field, value] of [
    ['keys', given],
    ['optionalKeys', optionalKeys[0]],
  ] as const)
    if (value !== undefined)
      problems.push(
        forbidden(field, `a ${format} secret has no keys to select from; remove ${field}, or set format to json`),
      );
  return problems;
}

function policyProblems({
  creationPolicy,
  deletionPolicy,
  immutable,
  refreshInterval,
}: Entry): readonly EntryProblem[] {
  const problems: EntryProblem[] = [];
  if (immutable && creationPolicy !== 'Create')
    problems.push(
      forbidden(
        'immutable',
        `creationPolicy ${creationPolicy} writes to a Secret that other clients change; use Create`,
      ),
    );
  if (immutable && (refreshIntervalMs(refreshInterval) ?? 0) > 0)
    problems.push(
      forbidden('refreshInterval', 'an immutable Secret cannot be refreshed; remove refreshInterval or immutable'),
    );
  if (deletionPolicy === 'Delete' && creationPolicy === 'Merge')
    problems.push(
      forbidden(
        'deletionPolicy',
        'with creationPolicy Merge the Secret has another owner and is never deleted by JASM; use Retain',
      ),
    );
  return problems;
}

function typeProblems(
  { type, format, key, template, creationPolicy }: Entry,
  keys: readonly KeySelection[] | undefined,
): readonly EntryProblem[] {
  const reserved = reservedType(type);
  if (reserved !== undefined) return [invalid('type', type, `${reserved}; use another type, such as Opaque`)];
  if (creationPolicy === 'Merge') return [];
  const known = template
    ? Object.keys(template)
    : format === 'json'
      ? keys?.map(({ target }) => target)
      : key === undefined
        ? undefined
        : [key];
  const missing = known && missingForType(type, (name) => known.includes(name));
  if (missing === undefined) return [];
  return [
    invalid(
      'type',
      type,
      `a Secret of this type needs ${missing}; add ${missing.startsWith('the keys') ? 'them' : 'it'}, or use Opaque`,
    ),
  ];
}

function invalid(field: string, value: unknown, rule: string): EntryProblem {
  return { field, message: `Invalid value: ${quoteText(String(value))}: ${rule}` };
}

function forbidden(field: string, reason: string): EntryProblem {
  return { field, message: `Forbidden: ${reason}` };
}
