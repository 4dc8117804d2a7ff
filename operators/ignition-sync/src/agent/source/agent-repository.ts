import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, parseDuration } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { BlobSource, LfsSource } from '../../engine/sync/blob-source.ts';
import type { TreeEntry } from '../../engine/tree/tree-entry.ts';
import type { GitProxy } from '../../git/access/git-credentials.ts';
import { openAccess } from '../../git/access/open-access.ts';
import { parseRef } from '../../git/address/git-ref.ts';
import type { GitUrl } from '../../git/address/git-url.ts';
import { GitError } from '../../git/errors/git-error.ts';
import { BlobReader } from '../../git/repository/blob-reader.ts';
import { GitRepository, type RemoteOptions, type WantedCommit } from '../../git/repository/git-repository.ts';
import { GitRunner } from '../../git/runner/git-runner.ts';
import { lockStore } from '../../git/store/store-lock.ts';
import { expandSubmodules, type SubmoduleRemote } from '../../git/submodules/expand-submodules.ts';
import type { SyncMetadata } from '../../protocol/metadata.ts';
import { type CredentialFiles, readAuthorities, readCredentials } from './read-credentials.ts';
import { repositoryAddress } from './repository-address.ts';
import { selectEntries } from './select-entries.ts';

/** FetchObserver is notified of fetches, for metrics. */
export interface FetchObserver {
  fetched(durationMs: number, receivedBytes: number): void;
}

/** AgentRepositoryOptions configures the repository of an agent. */
export interface AgentRepositoryOptions {
  /** The address whose origin the credentials are for. */
  readonly repo: string;
  /** The folder of the repository; other agents may use it as well. */
  readonly repoFolder: string;
  readonly scratchFolder: string;
  readonly credentials: CredentialFiles;
  /** The name of the pod. */
  readonly holder: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly observer: FetchObserver;
}

/** RepositoryCommit is one commit of the repository, whose trees are available. */
export interface RepositoryCommit extends AsyncDisposable {
  /** list returns the files below the sources, and what a source is behind. An empty source is the whole repository. */
  list(sources: readonly string[], signal: AbortSignal): Promise<readonly TreeEntry[]>;
  readonly blobs: BlobSource;
  /** Undefined unless `git.lfs` is set. */
  readonly lfs: LfsSource | undefined;
}

/** The longest time in which the blobs of one sync are read: far more than the largest sync takes. */
const READ_TIMEOUT_MS = 6 * 60 * 60 * 1000;
/** The number of commits, with those of submodules, that this agent keeps in the store. */
const MAX_REMEMBERED = 72;

/**
 * AgentRepository fetches commits by their hash, and only the blobs that a sync needs. Several agents may share its folder: one at
 * a time fetches, under a lock, and all read without one. A commit that was fetched is not requested again.
 */
export class AgentRepository {
  readonly #options: AgentRepositoryOptions;
  readonly #used: string[] = [];
  #runners: { readonly key: string; readonly fetch: GitRunner; readonly read: GitRunner } | undefined;

  constructor(options: AgentRepositoryOptions) {
    this.#options = options;
  }

  /** open makes a commit available. It throws OriginChanged before anything is sent to another server. */
  async open(metadata: SyncMetadata, commit: string, ref: string, signal: AbortSignal): Promise<RepositoryCommit> {
    const url = repositoryAddress(this.#options.repo, metadata);
    const { fetch, read } = await this.#runnersFor(metadata);
    const folder = join(this.#options.repoFolder, 'repo.git');
    await mkdir(this.#options.repoFolder, { recursive: true });
    const repository = await GitRepository.open(fetch, folder);
    const remote: Remote = { metadata, url, runner: fetch, repository };
    if (!(await repository.hasCommit(commit))) await this.#fetchCommit(remote, { commit }, ref, signal);
    this.#remember(commit);
    const reader = new BlobReader(read, folder);
    let modules: readonly SubmoduleRemote[] = [];
    return {
      list: async (sources, until) => {
        const listed = await this.#list(remote, commit, sources, until);
        modules = listed.modules;
        return listed.entries;
      },
      blobs: {
        prepare: (blobs, until = signal) => this.#prepare({ ...remote, modules }, { commit }, reader, blobs, until),
        announce: (blobs) => reader.announce(blobs),
        open: (blob, until = signal) => reader.open(blob, until),
      },
      lfs: await this.#lfs(metadata, url),
      [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
    };
  }

  /** readBlob reads a blob of a commit that was opened. */
  async readBlob(blob: string, signal?: AbortSignal): Promise<Buffer> {
    if (this.#runners === undefined) throw new Error('no commit was opened');
    await using reader = new BlobReader(this.#runners.read, join(this.#options.repoFolder, 'repo.git'));
    const chunks: Buffer[] = [];
    for await (const chunk of reader.open(blob, signal)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /** Files of submodules are listed with the others, if `git.submodules` is set. */
  async #list(
    remote: Remote,
    commit: string,
    sources: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly entries: readonly TreeEntry[]; readonly modules: readonly SubmoduleRemote[] }> {
    const { repository, url, metadata } = remote;
    const { submodules, allowPlainHttp } = metadata.settings.git;
    const selected = await selectEntries(repository, commit, sources, signal);
    const { entries, remotes: modules } = submodules
      ? await expandSubmodules(repository, selected, {
          ...{ commit, url, allowPlainHttp, signal },
          fetch: (moduleUrl, work) => this.#fetch({ ...remote, url: moduleUrl }, signal, work),
        })
      : { entries: selected, remotes: [] };
    for (const module of modules) this.#remember(module.commit);
    return { entries, modules };
  }

  async #lfs(metadata: SyncMetadata, url: GitUrl): Promise<LfsSource | undefined> {
    const { credentials: files, clock } = this.#options;
    if (!metadata.settings.git.lfs) return undefined;
    const credentials = () => readCredentials(files, metadata);
    // Loaded here, because few repositories need its HTTP client, which takes several megabytes of memory.
    const { gitLfsSource } = await import('../../git/lfs/lfs-source.ts');
    return gitLfsSource({ url, credentials, ca: await readAuthorities(files), proxy: proxyFor(url, metadata), clock });
  }

  async #fetchCommit(remote: Remote, wanted: WantedCommit, ref: string, signal: AbortSignal): Promise<void> {
    const { repository } = remote;
    await this.#fetch(remote, signal, async (options) => {
      for (const name of [...namesOf(ref), undefined]) {
        try {
          await repository.fetchCommit({ ...wanted, name }, options);
          break;
        } catch (error) {
          // Only a server without protocol v2 uses the name, which may be that of a tag or of a branch.
          if (name === undefined || !(error instanceof GitError) || error.reason !== 'CommitGone') throw error;
        }
      }
      await repository.prune([...this.#used, wanted.commit], options.signal);
    });
  }

  async #prepare(
    { modules, ...remote }: Remote & { readonly modules: readonly SubmoduleRemote[] },
    wanted: WantedCommit,
    reader: BlobReader,
    blobs: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, number>> {
    const sizes = await reader.sizes(blobs, signal);
    const missing = [...blobs].filter((blob) => !sizes.has(blob));
    if (missing.length === 0) return sizes;
    const ofModules = new Set(modules.flatMap(({ blobs: own }) => missing.filter((blob) => own.has(blob))));
    const wantedBlobs = [
      { url: remote.url, wanted, blobs: missing.filter((blob) => !ofModules.has(blob)) },
      ...modules.map(({ url, commit, blobs: own }) => ({
        url,
        wanted: { commit },
        blobs: missing.filter((blob) => own.has(blob)),
      })),
    ];
    for (const each of wantedBlobs) {
      if (each.blobs.length === 0) continue;
      await this.#fetch({ ...remote, url: each.url }, signal, async (options) => {
        await remote.repository.fetchBlobs(each.blobs, each.wanted, options);
      });
    }
    for (const [blob, size] of await reader.sizes(missing, signal)) sizes.set(blob, size);
    return sizes;
  }

  async #fetch(
    { metadata, url, runner, repository }: Remote,
    signal: AbortSignal,
    work: (options: RemoteOptions & { readonly signal: AbortSignal }) => Promise<void>,
  ): Promise<void> {
    const { repoFolder, holder, clock, log, credentials, observer } = this.#options;
    const onWait = (other: string): void => log.info('waiting for the fetch of another agent', { holder: other });
    await using lock = await lockStore(join(repoFolder, 'fetch.lock'), { holder, signal, clock, onWait });
    await using access = await openAccess({
      runner,
      url,
      credentials: await readCredentials(credentials, metadata),
      ca: await readAuthorities(credentials),
      proxy: proxyFor(url, metadata),
    });
    const startedAt = clock.monotonic();
    const before = await packBytes(repository.folder);
    await work({ connection: access.connection, signal: lock.signal });
    observer.fetched(clock.monotonic() - startedAt, Math.max(0, (await packBytes(repository.folder)) - before));
  }

  async #runnersFor({ settings }: SyncMetadata): Promise<{ readonly fetch: GitRunner; readonly read: GitRunner }> {
    const { timeout, maxRepositoryMiB } = settings.git;
    const key = `${timeout} ${maxRepositoryMiB}`;
    if (this.#runners?.key === key) return this.#runners;
    const { scratchFolder } = this.#options;
    const fetch = await GitRunner.open({ scratchFolder, timeoutMs: parseDuration(timeout), maxRepositoryMiB });
    const read = await GitRunner.open({ scratchFolder, timeoutMs: READ_TIMEOUT_MS, maxRepositoryMiB });
    this.#runners = { key, fetch, read };
    return this.#runners;
  }

  #remember(commit: string): void {
    if (this.#used.includes(commit)) return;
    this.#used.push(commit);
    if (this.#used.length > MAX_REMEMBERED) this.#used.shift();
  }
}

interface Remote {
  readonly metadata: SyncMetadata;
  readonly url: GitUrl;
  readonly runner: GitRunner;
  readonly repository: GitRepository;
}

/** The ConfigMap names the proxy. A proxy of a plain connection would see the credentials. */
function proxyFor({ scheme }: GitUrl, { settings }: SyncMetadata): GitProxy | undefined {
  const { https, no = [] } = settings.git.proxy ?? {};
  return https === undefined || scheme !== 'https' ? undefined : { https, no: no.join(',') };
}

function namesOf(ref: string): readonly string[] {
  try {
    const parsed = parseRef(ref);
    return parsed.kind === 'named' ? parsed.candidates : [];
  } catch {
    // The controller resolved it; here the hash decides.
    return [];
  }
}

async function packBytes(folder: string): Promise<number> {
  const packs = join(folder, 'objects', 'pack');
  const names = await readdir(packs).catch(() => []);
  const sizes = names
    .filter((name) => name.endsWith('.pack'))
    .map(async (name) => (await stat(join(packs, name)).catch(() => undefined))?.size ?? 0);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
