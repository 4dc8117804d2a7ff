import { BowlineError, contentKeyProblem, isObject } from '@bowline/machinery';
import type { CommandTerminal, KeyedContent } from '@bowline/runtime/manager';

/** ContentSources is where the values of a secret come from. */
export interface ContentSources {
  /** `key=value`. */
  readonly literals: readonly string[];
  readonly files: readonly KeyedContent[];
  /** A JSON object. Its strings are values; other members are stored as JSON. */
  readonly json: Buffer | undefined;
  /** Whether to ask for keys and values on the terminal. */
  readonly isInteractive: boolean;
}

/** SecretContent holds the values of a secret by key. */
export type SecretContent = ReadonlyMap<string, Buffer>;

/** readContent collects the values of a secret. It rejects a key that is given twice. Errors never contain a value. */
export async function readContent(sources: ContentSources, terminal: CommandTerminal): Promise<SecretContent> {
  const content = new Map<string, Buffer>();
  const add = (key: string, value: Buffer, flag: string): void => {
    const problem = contentKeyProblem(key);
    if (problem !== undefined)
      throw invalid(`the key ${JSON.stringify(key.slice(0, 64))} of ${flag} is not valid: ${problem}`);
    if (content.has(key)) throw invalid(`the key ${key} is given more than once; remove one`);
    content.set(key, value);
  };
  sources.literals.forEach((literal, index) => {
    const equals = literal.indexOf('=');
    // The text may be a value whose key was forgotten.
    if (equals <= 0) throw invalid(`--from-literal number ${index + 1} is not key=value`);
    add(literal.slice(0, equals), Buffer.from(literal.slice(equals + 1)), '--from-literal');
  });
  for (const { key, content: bytes } of sources.files) add(key, bytes, '--from-file');
  for (const [key, value] of jsonEntries(sources.json)) add(key, value, '--from-json-file');
  if (sources.isInteractive) {
    const alternative = { alternative: 'pass the values with --from-file' };
    for (;;) {
      const key = (await terminal.ask('Key (empty to finish)', alternative)).trim();
      if (key === '') break;
      add(key, await terminal.askSecret(`Value of ${key}`, alternative), '--interactive');
    }
  }
  if (content.size === 0)
    throw invalid('the secret has no values; pass --from-literal, --from-file, --from-json-file or --interactive');
  return content;
}

function jsonEntries(json: Buffer | undefined): readonly (readonly [string, Buffer])[] {
  if (!json) return [];
  let value: unknown;
  try {
    value = JSON.parse(json.toString('utf8'));
  } catch {
    // The message of the parser quotes the text.
    throw invalid('the content of --from-json-file is not JSON');
  }
  if (!isObject(value)) throw invalid('the content of --from-json-file is not a JSON object');
  return Object.entries(value).map(([key, member]) => [
    key,
    Buffer.from(typeof member === 'string' ? member : JSON.stringify(member)),
  ]);
}

/** invalid returns the error of arguments that cannot be used. */
export function invalid(message: string): BowlineError {
  return new BowlineError('BOWLINE_ARGUMENT_INVALID', message);
}
