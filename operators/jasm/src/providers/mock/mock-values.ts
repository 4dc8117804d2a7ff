import type { Secret } from '@bowline/kubernetes';
import { isObject } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';

/** MOCK_SECRET is the name of the Secret, in the manager's namespace, that holds the secrets of the mock. */
export const MOCK_SECRET = 'jasm-mock';

/** The entry that holds all secrets: one JSON text, which users can read and write. */
const ENTRY = 'values.json';

/** MockEntries is one secret of the mock: values by key, or a text that is not a JSON object. */
export type MockEntries = Readonly<Record<string, string>> | string;

/** MockValues holds the secrets of the mock by path. */
export type MockValues = ReadonlyMap<string, MockEntries>;

/**
 * readMockValues parses the content of the Secret; a missing Secret, or one without the entry, has no values. It throws
 * BOWLINE_JASM_MOCK_INVALID.
 */
export function readMockValues(secret: Secret | undefined): MockValues {
  const text = secret?.data?.[ENTRY];
  if (text === undefined) return new Map();
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    // The error message would quote the text.
    throw invalid('it is not JSON');
  }
  if (!isObject(value)) throw invalid('it is not an object of secrets by path');
  return new Map(Object.entries(value).map(([path, entries]) => [path, checked(path, entries)]));
}

/** withMockValue returns the values with those of a path replaced; undefined removes the path. */
export function withMockValue(values: MockValues, path: string, entries: MockEntries | undefined): MockValues {
  const others = [...values].filter(([other]) => other !== path);
  return new Map(entries === undefined ? others : [...others, [path, entries]]);
}

/** mockSecretData returns the data of the Secret that holds the values: the same values result in the same text. */
export function mockSecretData(values: MockValues): Readonly<Record<string, string>> {
  const sorted = [...values].sort(([a], [b]) => (a < b ? -1 : 1));
  return { [ENTRY]: Buffer.from(JSON.stringify(Object.fromEntries(sorted))).toString('base64') };
}

function checked(path: string, entries: unknown): MockEntries {
  if (typeof entries === 'string') return entries;
  if (isObject(entries) && Object.values(entries).every((value) => typeof value === 'string')) {
    return entries as Readonly<Record<string, string>>;
  }
  throw invalid(`the secret at ${JSON.stringify(path)} is neither a string nor an object of strings by key`);
}

function invalid(problem: string): BowlineError {
  return new BowlineError(
    'BOWLINE_JASM_MOCK_INVALID',
    `cannot read ${ENTRY} of the Secret ${MOCK_SECRET}: ${problem}; reset it with \`bowline jasm mock clear\``,
  );
}
