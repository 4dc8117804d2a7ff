import { readFile } from 'node:fs/promises';
import { BowlineError } from '@bowline/runtime';

/** ConfigFile is a parsed configuration file: plain JSON, and the position of each field. */
export interface ConfigFile {
  readonly path: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** lineOf returns the line of a field (`logging.level`, `namespaces[1]`), or of its nearest parent that exists. */
  lineOf(field: string): number | undefined;
}

/** A configuration of hundreds of namespaces has a few kilobytes: a larger file is something else. */
const MAX_BYTES = 1024 * 1024;

/** readConfigFile reads bowline.yaml. It throws BOWLINE_CONFIG_FILE. */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'it cannot be read';
    throw configFileError(path, `${code}; pass a readable file with --config`, cause);
  }
  if (text.length > MAX_BYTES) throw configFileError(path, 'it is larger than 1 MiB; pass another file with --config');
  return await parseConfig(path, text);
}

async function parseConfig(path: string, text: string): Promise<ConfigFile> {
  const { LineCounter, isMap, isScalar, parseAllDocuments } = await import('yaml');
  const { lineOfField, stepsOf } = await import('./yaml-lines.ts');
  const lines = new LineCounter();
  const documents = [...parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })];
  const [document] = documents;
  if (documents.length > 1) throw configFileError(path, 'it contains several YAML documents; keep one');
  const [problem] = document?.errors ?? [];
  if (problem) {
    const { line } = lines.linePos(problem.pos[0]);
    throw configFileError(path, `line ${line}: ${lowerFirst(problem.message)}; correct the YAML`);
  }
  const contents = document?.contents ?? null;
  if (contents !== null && !isMap(contents) && !(isScalar(contents) && contents.value === null)) {
    throw configFileError(path, 'it must be a map of settings, such as `operators: [configmap-sync]`');
  }
  return {
    path,
    value: (document?.toJS() ?? {}) as Record<string, unknown>,
    lineOf: (field) => lineOfField({ document, lines }, stepsOf(field)),
  };
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`.replace(/\.$/, '');
}

function configFileError(path: string, problem: string, cause?: unknown): BowlineError {
  return new BowlineError('BOWLINE_CONFIG_FILE', `cannot use the configuration file ${path}: ${problem}`, { cause });
}
