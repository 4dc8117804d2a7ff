import { quoteText } from '@bowline/machinery';
import type { EntryProblem } from './entry-rules.ts';
import { ENTRY_FIELDS, readEntry } from './read-entry.ts';
import { readYaml, YamlProblem, type YamlText } from './read-yaml.ts';
import type { AnnotationProblem, PodAnnotation, SecretSyncRequest } from './secret-sync-request.ts';
import { TemplateBudget } from './template-budget.ts';

/** MAX_SECRETS is the maximum number of secrets that one pod may request. */
export const MAX_SECRETS = 20;

/**
 * parsePodAnnotation parses the annotation by which a pod requests secrets: one at the top level, or a list under
 * `secrets`. `known` holds the names of the providers; if it is undefined, any name is valid. It never throws: problems
 * are part of the result, and a valid entry counts whatever other entries there are.
 */
export function parsePodAnnotation(text: string, known: readonly string[] | undefined): PodAnnotation {
  try {
    return readEntries(readYaml(text), known);
  } catch (error) {
    if (error instanceof YamlProblem) return refused(error.message);
    throw error;
  }
}

function readEntries(yaml: YamlText, known: readonly string[] | undefined): PodAnnotation {
  const { value } = yaml;
  const example = 'provider, path and secretName, or a list of such entries under secrets';
  if (value === null) return refused(`the annotation is empty; set ${example}`);
  if (typeof value !== 'object' || Array.isArray(value)) return refused(`the annotation must be a map with ${example}`);
  if (!Object.hasOwn(value, 'secrets')) return parseEntries([{ field: '', value }], yaml, known);
  const { secrets, ...otherFields } = value as Readonly<Record<string, unknown>>;
  const extra = Object.keys(otherFields);
  if (extra.length > 0) {
    const fields = extra.every((field) => ENTRY_FIELDS.includes(field))
      ? extra.join(', ')
      : extra.map(quoteText).join(', ');
    return refused(
      `${at('secrets', yaml)}: Forbidden: cannot be combined with ${fields}; move these fields into an entry of the list`,
    );
  }
  if (!Array.isArray(secrets) || secrets.length === 0)
    return refused(
      `${at('secrets', yaml)}: Invalid value: must be a list of entries with provider, path and secretName`,
    );
  if (secrets.length > MAX_SECRETS)
    return refused(`${at('secrets', yaml)}: Too many: ${secrets.length}: must have at most ${MAX_SECRETS} items`);
  return parseEntries(
    secrets.map((entry: unknown, index) => ({ field: `secrets[${index}]`, value: entry })),
    yaml,
    known,
  );
}

interface AnnotationEntry {
  readonly field: string;
  readonly value: unknown;
}

function parseEntries(
  entries: readonly AnnotationEntry[],
  yaml: YamlText,
  known: readonly string[] | undefined,
): PodAnnotation {
  const requests: SecretSyncRequest[] = [];
  const problems: AnnotationProblem[] = [];
  const templates = new TemplateBudget();
  const names = new Map<unknown, string>();
  for (const { field, value } of entries) {
    const { request, problems: wrong = [] } = readEntry(value, field, templates);
    const invalid = [...wrong, ...duplicates(value, field, names)];
    const unsupported = unsupportedProvider(value, known);
    if (invalid.length > 0) problems.push(problemOf('AnnotationInvalid', invalid, field, yaml));
    if (unsupported.length > 0) problems.push(problemOf('ProviderUnsupported', unsupported, field, yaml));
    if (request && invalid.length + unsupported.length === 0) requests.push(request);
  }
  return { requests, problems };
}

/**
 * Two entries for one Secret would overwrite each other in turn. The first counts, valid or not: the choice is not
 * ours.
 */
function duplicates(value: unknown, field: string, names: Map<unknown, string>): readonly EntryProblem[] {
  const name = memberOf(value, 'secretName');
  if (typeof name !== 'string') return [];
  const other = names.get(name);
  if (other === undefined) {
    names.set(name, field);
    return [];
  }
  return [
    {
      field: 'secretName',
      message: `Duplicate value: ${quoteText(name)}: already requested by ${other}; choose another name`,
    },
  ];
}

function unsupportedProvider(value: unknown, known: readonly string[] | undefined): readonly EntryProblem[] {
  const provider = memberOf(value, 'provider');
  if (typeof provider !== 'string' || !known || known.includes(provider)) return [];
  const supported = known.map(quoteText).join(', ');
  return [{ field: 'provider', message: `Unsupported value: ${quoteText(provider)}: supported values: ${supported}` }];
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function problemOf(
  reason: AnnotationProblem['reason'],
  problems: readonly EntryProblem[],
  entry: string,
  yaml: YamlText,
): AnnotationProblem {
  const messages = problems.map(({ field, message }) => {
    const path = [entry, field].filter((part) => part !== '').join('.');
    return path === '' ? shortened(message) : `${at(path, yaml)}: ${shortened(message)}`;
  });
  return { reason, message: messages.join('; ') };
}

/** at returns a field with its line, or with the line of its nearest ancestor that exists. */
function at(field: string, { lineOf }: YamlText): string {
  for (let around = field; around !== ''; around = around.replace(/(^|[.[])[^.[]*$/, '')) {
    const line = lineOf(around);
    if (line !== undefined) return `${shortened(field)} (line ${line})`;
  }
  return shortened(field);
}

function refused(message: string): PodAnnotation {
  return { requests: [], problems: [{ reason: 'AnnotationInvalid', message: shortened(message) }] };
}

// A message starts with the field and ends with the remedy; a long value may stand in between.
const MAX_CHARACTERS = 500;

function shortened(text: string): string {
  const readable = text.replaceAll(/[\p{Cc}\p{Surrogate}\u2028\u2029]+/gu, ' ');
  if (readable.length <= MAX_CHARACTERS) return readable;
  const half = MAX_CHARACTERS / 2;
  return `${readable.slice(0, half)}…${readable.slice(-half)}`.replaceAll(/\p{Surrogate}/gu, '');
}
