import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareQuantities, parseQuantity } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';

/**
 * ScratchFolder declares that an operator needs a folder for files that it can create again: checkouts, downloads. The
 * root file system of an install is read-only, so nothing else can be written there.
 */
export interface ScratchFolder<in Config = unknown> {
  /** The maximum size, for example `2Gi`. A function computes it from the configuration. */
  readonly sizeLimit: string | ((config: Config) => string);
}

/** scratchFolderProblem returns why a declared scratch folder cannot be used; undefined when it can. */
export function scratchFolderProblem(operator: string, folder: ScratchFolder<never> | undefined): string | undefined {
  if (folder === undefined) return undefined;
  if (operator.length > MAX_OPERATOR_CHARACTERS) {
    return `an operator with a scratch folder needs a name of at most ${MAX_OPERATOR_CHARACTERS} characters, because a volume is named after it`;
  }
  return typeof folder.sizeLimit === 'function' ? undefined : sizeLimitProblem(folder.sizeLimit);
}

/** The volume is `scratch-<operator>`, a DNS label of at most 63 characters. */
const MAX_OPERATOR_CHARACTERS = 55;

function sizeLimitProblem(text: string): string | undefined {
  try {
    if (compareQuantities(parseQuantity(text), parseQuantity(0)) > 0) return undefined;
  } catch {
    // Reported below.
  }
  return `the size limit "${text}" of its scratch folder must be a quantity above 0, such as 2Gi`;
}

/** withSizeLimit returns a scratch folder whose limit is that for a parsed configuration. */
export function withSizeLimit(
  operator: string,
  folder: ScratchFolder<never> | undefined,
  config: never,
): ScratchFolder<never> | undefined {
  if (typeof folder?.sizeLimit !== 'function') return folder;
  const sizeLimit = folder.sizeLimit(config);
  const problem = sizeLimitProblem(sizeLimit);
  if (problem === undefined) return Object.freeze({ sizeLimit });
  throw new BowlineError(
    'BOWLINE_CONFIG_INVALID',
    `the configuration of the operator ${operator} is not valid: ${problem}`,
  );
}

/** OpenScratchFolder is a scratch folder of a running operator. */
export interface OpenScratchFolder {
  readonly path: string;
  /** remove deletes the folder if it was created for this run; a folder that was provided stays. */
  remove(): Promise<void>;
}

/**
 * openScratchFolder creates the scratch folder of an operator: below `parent`, or if that is undefined a temporary one.
 * Throws BOWLINE_SCRATCH_FOLDER.
 */
export async function openScratchFolder(operator: string, parent: string | undefined): Promise<OpenScratchFolder> {
  try {
    if (parent !== undefined) {
      const path = join(parent, operator);
      await mkdir(path, { recursive: true, mode: 0o700 });
      return { path, remove: () => Promise.resolve() };
    }
    // Only the user of this process may read it.
    const path = await mkdtemp(join(tmpdir(), `${operator}-`));
    // A process that writes to it may be about to end.
    return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }) };
  } catch (cause) {
    throw new BowlineError(
      'BOWLINE_SCRATCH_FOLDER',
      `cannot create the scratch folder of the operator ${operator} in ${parent ?? tmpdir()}: ${cause instanceof Error ? cause.message : String(cause)}; set scratchFolder to a folder that the process may write to`,
      { cause },
    );
  }
}
