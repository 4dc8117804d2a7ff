import { isValidRef, parseRef } from '../address/git-ref.ts';
import { GitError } from '../errors/git-error.ts';
import type { GitConnection } from '../runner/git-connection.ts';
import type { GitRunner } from '../runner/git-runner.ts';

/** ResolvedRef is the commit that a ref stands for. */
export interface ResolvedRef {
  readonly commit: string;
  /** The full name, such as `refs/tags/v1`; undefined for a ref that is a hash. */
  readonly name: string | undefined;
  /** The hash of the tag object of an annotated tag; undefined for others. */
  readonly tag: string | undefined;
}

/** Patterns per call: arguments are limited in size. */
const MAX_REFS = 1_000;

/**
 * resolveRefs resolves refs with one request to the remote, or none if all are hashes. The result has no entry for a ref that the
 * remote does not have or whose name is not valid: users that share a request must not fail because of the ref of another one.
 */
export async function resolveRefs(
  runner: GitRunner,
  options: {
    readonly gitDir: string;
    readonly connection: GitConnection;
    readonly refs: readonly string[];
    readonly signal?: AbortSignal | undefined;
  },
): Promise<ReadonlyMap<string, ResolvedRef>> {
  const { gitDir, connection, refs, signal } = options;
  const result = new Map<string, ResolvedRef>();
  const named = new Map<string, readonly string[]>();
  for (const ref of refs) {
    const parsed = isValidRef(ref) ? parseRef(ref) : undefined;
    if (parsed === undefined) continue;
    if (parsed.kind === 'commit') result.set(ref, { commit: parsed.commit, name: undefined, tag: undefined });
    else named.set(ref, parsed.candidates);
  }
  const names = [...new Set([...named.values()].flat())];
  const advertised = new Map<string, string>();
  for (let from = 0; from < names.length; from += MAX_REFS) {
    // A tag name followed by ^{} is the commit that an annotated tag points to.
    const patterns = names
      .slice(from, from + MAX_REFS)
      .flatMap((name) => (peelable(name) ? [name, `${name}^{}`] : [name]));
    const output = await runner.run({
      args: ['ls-remote', '--quiet'],
      operands: ['origin', ...patterns],
      gitDir,
      connection,
      signal,
    });
    for (const [, hash = '', name = ''] of output.matchAll(/^([0-9a-f]{40})\t(.+)$/gm)) advertised.set(name, hash);
  }
  for (const [ref, candidates] of named) {
    const resolved = firstOf(candidates, advertised);
    if (resolved) result.set(ref, resolved);
  }
  return result;
}

/** refNotFound returns the error for a ref that the remote does not have. `correction` names the other way to repair it. */
export function refNotFound(host: string, ref: string, correction = 'correct spec.git.ref'): GitError {
  return new GitError('RefNotFound', `${host} has neither a tag nor a branch ${ref}`, {
    host,
    remedy: `push it, or ${correction}`,
  });
}

function peelable(name: string): boolean {
  return name.startsWith('refs/tags/');
}

/** Names are compared exactly: git also returns refs whose names only end with a pattern. */
function firstOf(candidates: readonly string[], advertised: ReadonlyMap<string, string>): ResolvedRef | undefined {
  for (const name of candidates) {
    const hash = advertised.get(name);
    if (hash === undefined) continue;
    const peeled = advertised.get(`${name}^{}`);
    return { commit: peeled ?? hash, name, tag: peeled === undefined ? undefined : hash };
  }
  return undefined;
}
