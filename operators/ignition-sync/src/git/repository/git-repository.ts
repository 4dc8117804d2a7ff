import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isCommitHash, parseRef } from '../address/git-ref.ts';
import { GitError } from '../errors/git-error.ts';
import type { GitConnection } from '../runner/git-connection.ts';
import type { GitCommand, GitRunner } from '../runner/git-runner.ts';
import { compactRepository } from './compact-repository.ts';
import { type GitBlob, readBlobs } from './read-blobs.ts';
import { removeLeftovers } from './remove-leftovers.ts';
import { type ResolvedRef, refNotFound, resolveRefs } from './resolve-refs.ts';
import { parseChange, parseTreeEntry, type TreeChange, type TreeEntry } from './tree-entry.ts';
import { type SignatureKeys, verifySignature } from './verify-signature.ts';

/** RemoteOptions is what every operation with a remote takes. */
export interface RemoteOptions {
  readonly connection: GitConnection;
  readonly signal?: AbortSignal | undefined;
}

/** WantedCommit is a commit to fetch. */
export interface WantedCommit {
  readonly commit: string;
  /** The full name of a ref that points to it, for servers that do not serve hashes. Defaults to none. */
  readonly name?: string | undefined;
}

/** The refs that keep fetched commits. */
const COMMITS = 'refs/ignition-sync';
const TAGS = 'refs/ignition-sync-tags';
const FETCH = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules'];
/** The number of commits that `prune` keeps besides those it is told to. */
const KEPT_COMMITS = 3;

/**
 * GitRepository is a bare repository with shallow, partial copies of single commits. One process at a time may fetch and prune;
 * any number may read.
 */
export class GitRepository {
  readonly #runner: GitRunner;
  readonly folder: string;

  private constructor(runner: GitRunner, folder: string) {
    this.#runner = runner;
    this.folder = folder;
  }

  /** open creates the repository if it does not exist. */
  static async open(runner: GitRunner, folder: string): Promise<GitRepository> {
    await mkdir(folder, { recursive: true });
    const isComplete = await stat(join(folder, 'HEAD')).then(
      () => true,
      () => false,
    );
    // Running it again is safe, also after it was interrupted and while another process does the same.
    if (!isComplete) await runner.run({ args: ['init', '--quiet', '--bare', '--template='], gitDir: folder });
    return new GitRepository(runner, folder);
  }

  /** resolve resolves refs; the result has no entry for a ref that the remote does not have. */
  resolve(refs: readonly string[], { connection, signal }: RemoteOptions): Promise<ReadonlyMap<string, ResolvedRef>> {
    return resolveRefs(this.#runner, { gitDir: this.folder, connection, refs, signal });
  }

  /** resolveRef resolves one ref. It throws RefNotFound if the remote does not have it. */
  async resolveRef(ref: string, options: RemoteOptions): Promise<ResolvedRef> {
    // Its error describes what is not valid.
    parseRef(ref);
    const resolved = (await this.resolve([ref], options)).get(ref);
    if (!resolved) throw refNotFound(options.connection.host, ref);
    return resolved;
  }

  /** hasCommit reports whether a commit was fetched completely, with its trees. */
  async hasCommit(commit: string): Promise<boolean> {
    return (await this.#refs(`${COMMITS}/${requireHash(commit)}`)).length > 0;
  }

  /** fetchCommit fetches a commit and its trees, without blobs if the server supports it. It does nothing if it was fetched. */
  async fetchCommit(wanted: WantedCommit, options: RemoteOptions): Promise<void> {
    const commit = requireHash(wanted.commit);
    if (await this.hasCommit(commit)) return;
    await removeLeftovers(this.folder);
    await this.#fetchObject(
      { hash: commit, ref: `${COMMITS}/${commit}`, name: wanted.name, peel: '^{commit}' },
      options,
    );
  }

  /** fetchTag fetches the object of an annotated tag, to verify its signature. */
  async fetchTag(resolved: ResolvedRef, options: RemoteOptions): Promise<void> {
    if (resolved.tag === undefined || (await this.#refs(`${TAGS}/${resolved.tag}`)).length > 0) return;
    await this.#fetchObject(
      { hash: resolved.tag, ref: `${TAGS}/${resolved.tag}`, name: resolved.name, peel: '' },
      options,
    );
  }

  /** listTree yields the files of a commit under the paths, or all if there are none. */
  async *listTree(commit: string, paths: readonly string[] = [], signal?: AbortSignal): AsyncGenerator<TreeEntry> {
    const args = ['ls-tree', '-r', '-z', '--full-tree'];
    // No `--` before the paths: after `--end-of-options`, ls-tree takes it for a path.
    const operands = [requireHash(commit), ...paths];
    const records = this.#runner.records({ ...this.#local(signal), args, operands }, '\0');
    for await (const record of records) {
      const entry = parseTreeEntry(record);
      if (entry) yield entry;
    }
  }

  /** diff yields the paths that differ between two commits. It needs no blobs. */
  async *diff(
    from: string,
    to: string,
    paths: readonly string[] = [],
    signal?: AbortSignal,
  ): AsyncGenerator<TreeChange> {
    const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-ext-diff'];
    const operands = [requireHash(from), requireHash(to)];
    let status: Buffer | undefined;
    for await (const record of this.#runner.records({ ...this.#local(signal), args, operands, paths }, '\0')) {
      const change = status && parseChange(status, record);
      status = status ? undefined : Buffer.from(record);
      if (change) yield change;
    }
  }

  /** fetchBlobs fetches the blobs that are missing, in one round trip, and returns their number. */
  async fetchBlobs(hashes: Iterable<string>, wanted: WantedCommit, options: RemoteOptions): Promise<number> {
    const missing = await this.#missing(hashes, options.signal);
    if (missing.length === 0) return 0;
    await removeLeftovers(this.folder);
    const settings = [['fetch.negotiationAlgorithm', 'noop']] as const;
    const args = [...FETCH, '--filter=blob:none', '--stdin'];
    const input = missing.map((hash) => `${hash}\n`);
    try {
      await this.#runner.run({ ...this.#remote(options), args, operands: ['origin'], settings, input });
    } catch (error) {
      if (!isGone(error)) throw error;
      // The server filters blobs but does not serve them by hash: fetch the commit again with all blobs.
      const source = wanted.name ?? requireHash(wanted.commit);
      await this.#runner.run({
        ...this.#remote(options),
        args: [...FETCH, '--depth=1', '--refetch', '--no-filter'],
        operands: ['origin', source],
      });
    }
    if ((await this.#missing(missing, options.signal)).length > 0)
      throw commitGone(options.connection.host, 'files are missing');
    return missing.length;
  }

  /** readBlobs yields the content of blobs that were fetched, in the order of the hashes. */
  readBlobs(hashes: readonly string[], signal?: AbortSignal): AsyncGenerator<GitBlob> {
    return readBlobs(this.#runner, this.#local(signal), hashes.map(requireHash));
  }

  /** readConfig returns the settings in a blob that was fetched and has the format of git's configuration. */
  async readConfig(hash: string, signal?: AbortSignal): Promise<readonly (readonly [key: string, value: string])[]> {
    const args = ['config', '--no-includes', '--null', '--list', `--blob=${requireHash(hash)}`];
    const output = await this.#runner.run({ ...this.#local(signal), args });
    return output
      .split('\0')
      .filter(Boolean)
      .map((setting) => {
        const end = setting.indexOf('\n');
        return end === -1 ? [setting, ''] : [setting.slice(0, end), setting.slice(end + 1)];
      });
  }

  /** verify verifies the signature of a commit that was fetched, or of its tag. */
  verify(resolved: ResolvedRef, keys: SignatureKeys, signal?: AbortSignal): Promise<void> {
    return verifySignature(this.#runner, { ...keys, gitDir: this.folder, resolved, signal });
  }

  /** prune removes the commits that are neither named nor among the last 3, and then reclaims space if it is worth it. */
  async prune(keep: readonly string[], signal?: AbortSignal): Promise<void> {
    const [commits, tags] = [await this.#refs(COMMITS), await this.#refs(TAGS)];
    const aged = await Promise.all(commits.map(async (ref) => ({ ref, time: await this.#timeOf(ref) })));
    const kept = new Set([
      ...keep.map((commit) => `${COMMITS}/${commit}`),
      ...aged
        .toSorted((a, b) => b.time - a.time)
        .slice(0, KEPT_COMMITS)
        .map(({ ref }) => ref),
    ]);
    // A tag is needed only until it is verified.
    const old = [...commits.filter((ref) => !kept.has(ref)), ...tags];
    if (old.length === 0) return;
    await removeLeftovers(this.folder);
    const input = old.map((ref) => `delete ${ref}\n`);
    await this.#runner.run({ ...this.#local(signal), args: ['update-ref', '--stdin'], input });
    await compactRepository(this.#runner, { gitDir: this.folder, signal });
  }

  async #fetchObject(
    object: { readonly hash: string; readonly ref: string; readonly name: string | undefined; readonly peel: string },
    options: RemoteOptions,
  ): Promise<void> {
    const { hash, ref, name, peel } = object;
    const fetch = (source: string): Promise<string> =>
      this.#runner.run({
        ...this.#remote(options),
        args: [...FETCH, '--depth=1', '--filter=blob:none'],
        operands: ['origin', source],
      });
    try {
      await fetch(`${hash}:${ref}`);
      return;
    } catch (error) {
      if (!isGone(error) || name === undefined) throw error;
    }
    // Without protocol v2 a server serves only what its refs point to, by their names.
    const received = `${TAGS}/received`;
    await fetch(`+${name}:${received}`);
    const args = ['rev-parse', '--verify', '--quiet'];
    const output = await this.#runner.run({ ...this.#local(options.signal), args, operands: [`${received}${peel}`] });
    const input = [output.trim() === hash ? `update ${ref} ${hash}\n` : '', `delete ${received}\n`];
    await this.#runner.run({ ...this.#local(options.signal), args: ['update-ref', '--stdin'], input });
    if (output.trim() !== hash) throw commitGone(options.connection.host, 'the ref has moved');
  }

  /** Which of the blobs are not in the repository. No remote is asked: the command has none. */
  async #missing(hashes: Iterable<string>, signal: AbortSignal | undefined): Promise<readonly string[]> {
    const input = [...new Set([...hashes].map((hash) => `${requireHash(hash)}\n`))];
    if (input.length === 0) return [];
    const args = ['cat-file', '--batch-check=%(objectname)', '--buffer'];
    const missing: string[] = [];
    for await (const record of this.#runner.records({ ...this.#local(signal), args, input }, '\n')) {
      const [hash = '', state] = record.toString('latin1').split(' ');
      if (state === 'missing') missing.push(hash);
    }
    return missing;
  }

  /**
   * The refs below a prefix, or the prefix itself if it is a ref. Refs are never packed, so that each is a file: a git process
   * would take longer than everything else that a commit without changes needs.
   */
  async #refs(prefix: string): Promise<readonly string[]> {
    try {
      const names = await readdir(join(this.folder, prefix));
      return names.filter((name) => !name.endsWith('.lock')).map((name) => `${prefix}/${name}`);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'ENOTDIR') return [prefix];
      if (code === 'ENOENT') return [];
      throw error;
    }
  }

  /** The file of a ref was written when its commit was fetched. */
  async #timeOf(ref: string): Promise<number> {
    return (await stat(join(this.folder, ref)).catch(() => undefined))?.mtimeMs ?? 0;
  }

  #local(signal: AbortSignal | undefined): Pick<GitCommand, 'gitDir' | 'signal'> {
    return { gitDir: this.folder, signal };
  }

  #remote({ connection, signal }: RemoteOptions): Pick<GitCommand, 'gitDir' | 'signal' | 'connection'> {
    return { gitDir: this.folder, connection, signal };
  }
}

function requireHash(text: string): string {
  if (isCommitHash(text)) return text.toLowerCase();
  throw new GitError('CommitGone', 'a hash does not have 40 hex digits', { remedy: 'use the full hash of the commit' });
}

function isGone(error: unknown): boolean {
  return error instanceof GitError && error.reason === 'CommitGone';
}

function commitGone(host: string, what: string): GitError {
  return new GitError('CommitGone', `${host} does not provide the commit (${what})`, {
    host,
    remedy: 'it is resolved again; push the commit, or choose another git.ref',
  });
}
