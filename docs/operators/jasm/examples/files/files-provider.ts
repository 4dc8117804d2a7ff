import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ExternalSecret,
  type ProviderContext,
  ProviderError,
  type SecretProvider,
  type SecretRef,
} from '@bowline/jasm';
import type { FilesConfig } from './kind.ts';

const OPERATION = 'ReadFile';

/** The kinds of errors by the error code of Node. All other errors are transient. */
const KINDS = { ENOENT: 'not-found', EACCES: 'denied', EISDIR: 'refused' } as const;

/** FilesProvider reads files. The version is derived from the content, so that one version never has two values. */
export class FilesProvider implements SecretProvider {
  readonly name = 'files';
  readonly capabilities = { versions: true, batch: false } as const;
  readonly #context: Pick<ProviderContext<FilesConfig>, 'config' | 'clock' | 'observe'>;

  constructor(context: Pick<ProviderContext<FilesConfig>, 'config' | 'clock' | 'observe'>) {
    this.#context = context;
  }

  async fetchSecret(ref: SecretRef, signal: AbortSignal): Promise<ExternalSecret> {
    const text = await this.#read(ref, signal);
    return { provider: this.name, sourcePath: ref.path, payload: { kind: 'text', text }, version: versionOf(text) };
  }

  async probeVersion(ref: SecretRef, signal: AbortSignal): Promise<string> {
    return versionOf(await this.#read(ref, signal));
  }

  /** Makes one attempt and observes it. The caller has a time limit and retries. */
  async #read(ref: SecretRef, signal: AbortSignal): Promise<string> {
    refuseWhatFilesLack(ref);
    const { path } = ref;
    const { config, clock, observe } = this.#context;
    const startedAt = clock.monotonic();
    const count = (code: string): void => observe({ operation: OPERATION, code, ms: clock.monotonic() - startedAt });
    signal.throwIfAborted();
    try {
      const text = await readFile(join(config.folder, path), { encoding: 'utf8', signal });
      count('OK');
      return text;
    } catch (error) {
      signal.throwIfAborted();
      const problem = problemOf(error, path);
      count(problem.code);
      throw problem;
    }
  }
}

/** Without these fields, another secret than the requested one would be read. */
function refuseWhatFilesLack({ versionStage, versionId, region, role }: SecretRef): void {
  if ((versionStage ?? versionId ?? region ?? role) === undefined) return;
  throw new ProviderError('files have neither versions nor regions nor roles: remove these fields', {
    kind: 'refused',
    provider: 'files',
    operation: OPERATION,
    code: 'Unsupported',
  });
}

function versionOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** A message tells the user what to do, contains no value, and is always the same for the same problem. */
function problemOf(error: unknown, path: string): ProviderError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'Unknown';
  const kind = Object.hasOwn(KINDS, code) ? KINDS[code as keyof typeof KINDS] : 'transient';
  const advice = kind === 'not-found' ? 'create it, or correct the path' : 'check the folder of the operator';
  return new ProviderError(`the file ${path} cannot be read (${code}): ${advice}`, {
    kind,
    provider: 'files',
    operation: OPERATION,
    code,
  });
}
