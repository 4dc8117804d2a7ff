import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, parseDuration, type Random } from '@bowline/machinery';
import { KeyStream } from '@bowline/runtime/controller';
import type { Config } from '../config.ts';
import { type AppToken, AppTokens, type GitHubApp } from '../git/access/app-tokens.ts';
import type { GitCredentials, GitProxy } from '../git/access/git-credentials.ts';
import { type GitAccess, openAccess } from '../git/access/open-access.ts';
import type { ServerAccess } from '../git/access/server-request.ts';
import { parseGitUrl } from '../git/address/git-url.ts';
import { GitError } from '../git/errors/git-error.ts';
import { GitRepository, type RemoteOptions } from '../git/repository/git-repository.ts';
import type { ResolvedRef } from '../git/repository/resolve-refs.ts';
import { GitRunner } from '../git/runner/git-runner.ts';
import type { OperationReport, OperationState } from '../git/source/operation.ts';
import { Operations, type UserNeeds } from '../git/source/operations.ts';
import { type GitSecrets, type GitSpec, readGitSecrets, type SecretReader } from './git-secrets.ts';
import { fingerprints } from './host-keys.ts';
import { RepositoryFolders } from './repository-folders.ts';
import { type GitSource, isPinning, SourceIdentities } from './source-identity.ts';

/** GitSourcesOptions configures the access to repositories. */
export interface GitSourcesOptions {
  readonly config: Config;
  readonly client: SecretReader;
  /** The folder for repositories and temporary files. */
  readonly workFolder: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly observe: (report: OperationReport) => void;
  /** Called with the number of bytes that a fetch has received. */
  readonly received: (bytes: number) => void;
}

/** ResolveRequest describes refs to resolve. */
export interface ResolveRequest {
  readonly source: GitSource;
  readonly refs: readonly string[];
  /** See `OperationRequest`. */
  readonly trigger: string;
  readonly maxAgeMs: number;
}

/** Resolution maps refs to commits; a ref that the repository does not have is missing. */
export type Resolution = ReadonlyMap<string, ResolvedRef>;

/** SourceRun collects what one run of an IgnitionSync's reconcile needs. Nothing of it waits. */
export interface SourceRun {
  resolve(request: ResolveRequest): OperationState<Resolution>;
  /** fetch fetches a commit, and verifies its signature if the source requires it. */
  fetch(source: GitSource, resolved: ResolvedRef, trigger: string): OperationState<boolean>;
  /** perform runs other work in the repository, such as a push, as an operation with a name of its own. */
  perform<T>(request: PerformRequest<T>): OperationState<T>;
  /** complete ends the run: what was not requested in it is no longer needed. */
  complete(): void;
}

/** PerformRequest describes work in the repository of a source. */
export interface PerformRequest<T> {
  readonly source: GitSource;
  /** What is done, such as `push 1a2b…`; its first word is a label of metrics. IgnitionSyncs that request the same share it. */
  readonly name: string;
  /** See `OperationRequest`. */
  readonly trigger: string;
  /** See `OperationRequest`. Defaults to any age. */
  readonly maxAgeMs?: number | undefined;
  readonly work: (tools: RepositoryTools) => Promise<T>;
}

/** RepositoryTools is what work in a repository needs. */
export interface RepositoryTools {
  readonly runner: GitRunner;
  readonly repository: GitRepository;
  readonly remote: RemoteOptions;
  /** How the HTTP API of the Git server is accessed, and the token for it. Undefined if the source has none. */
  readonly server: ServerAccess & { readonly token: string | undefined };
}

/** Separates refs, which contain no white space. */
const SEPARATOR = ' ';

/** GitSources resolves and fetches for all IgnitionSyncs. They share one operation if they have the same source. */
export class GitSources implements AsyncDisposable {
  readonly #options: GitSourcesOptions;
  readonly #runner: GitRunner;
  readonly #folders: RepositoryFolders;
  readonly #operations: Operations;
  readonly #tokens: AppTokens;
  readonly #issued = new Map<string, AppToken>();
  /** Lines of a known_hosts file with the keys that were pinned, by source. */
  readonly #pins = new Map<string, readonly string[]>();
  readonly #sources = new Map<string, string>();
  readonly identities = new SourceIdentities();
  /** The keys of IgnitionSyncs whose operations have ended. */
  readonly finished = new KeyStream();

  private constructor(options: GitSourcesOptions, runner: GitRunner, folders: RepositoryFolders) {
    const { config, clock, random, observe } = options;
    this.#options = options;
    this.#runner = runner;
    this.#folders = folders;
    this.#tokens = new AppTokens({ clock, proxy: proxyOf(config) });
    this.#operations = new Operations({
      concurrency: config.gitConcurrency,
      timeoutMs: parseDuration(config.gitTimeout),
      notify: (user) => void this.finished.add(user),
      observe,
      clock,
      random,
    });
  }

  /** open checks that git is installed, and prepares the work folder. */
  static async open(options: GitSourcesOptions): Promise<GitSources> {
    const { config, workFolder } = options;
    const folders = await RepositoryFolders.open(workFolder);
    const runner = await GitRunner.open({
      scratchFolder: join(folders.root, 'scratch'),
      // Operations have the time limit of the configuration by the injected clock; this one is for single commands.
      timeoutMs: parseDuration(config.gitTimeout),
      maxRepositoryMiB: config.maxRepositoryMiB,
    });
    return new GitSources(options, runner, folders);
  }

  /** The number of sources with an operation that runs or waits. */
  get pending(): number {
    return this.#operations.pending;
  }

  /** begin begins a run of the reconcile of an IgnitionSync, which its key identifies. */
  begin(user: string): SourceRun {
    const needs = this.#operations.needs(user);
    return {
      resolve: (request) => this.#resolve(user, needs, request),
      fetch: (source, resolved, trigger) => this.#fetch(needs, source, resolved, trigger),
      perform: ({ source, name, trigger, maxAgeMs, work }) =>
        needs.request({
          source: source.id,
          name,
          trigger,
          maxAgeMs,
          run: (signal) =>
            this.#withRepository(source, signal, async (repository, remote, secrets) => {
              const { config, clock } = this.#options;
              const token = secrets.token ?? this.appToken(source)?.token;
              const server = { ca: secrets.ca, proxy: proxyOf(config), clock, token };
              const result = await work({ runner: this.#runner, repository, remote, server });
              return new Map([['', result]]);
            }),
        }),
      complete: () => needs.complete(),
    };
  }

  /** release forgets an IgnitionSync that was deleted or paused, and ends the git processes that only it needed. */
  release(user: string): void {
    this.#operations.release(user);
    this.#folders.release(user);
    const source = this.#sources.get(user);
    this.#sources.delete(user);
    if (source !== undefined) this.#forgetUnused(source);
  }

  /** appToken returns the newest token of a GitHub App that was issued for a source. */
  appToken({ id }: GitSource): AppToken | undefined {
    return this.#issued.get(id);
  }

  /** pin sets the host keys of a source, as lines of a known_hosts file, unless it has some. */
  pin({ id }: GitSource, lines: readonly string[]): void {
    if (!this.#pins.has(id)) this.#pins.set(id, lines);
  }

  /** pinsOf returns the pinned host keys of a source, as lines of a known_hosts file. */
  pinsOf({ id }: GitSource): readonly string[] {
    return this.#pins.get(id) ?? [];
  }

  /** Ends all git processes and removes all files. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#operations[Symbol.asyncDispose]();
    await this.#folders[Symbol.asyncDispose]();
  }

  #resolve(user: string, needs: UserNeeds, request: ResolveRequest): OperationState<Resolution> {
    const { source, refs, trigger, maxAgeMs } = request;
    this.#use(user, source.id);
    return needs.request<Resolution>({
      source: source.id,
      name: 'resolve',
      item: refs.join(SEPARATOR),
      trigger,
      maxAgeMs,
      run: (signal, items) =>
        this.#withRepository(source, signal, async (repository, options) => {
          const all = [...new Set(items.flatMap((item) => item.split(SEPARATOR)))];
          const resolved = await repository.resolve(all, options);
          return new Map(items.map((item) => [item, select(resolved, item.split(SEPARATOR))]));
        }),
    });
  }

  #fetch(needs: UserNeeds, source: GitSource, resolved: ResolvedRef, trigger: string): OperationState<boolean> {
    const { commit, name } = resolved;
    const { verify } = source.git;
    const run = (signal: AbortSignal): Promise<ReadonlyMap<string, boolean>> =>
      this.#withRepository(source, signal, async (repository, options, { signers = '' }) => {
        const before = await packBytes(repository.folder);
        await repository.fetchCommit({ commit, name }, options);
        if (verify) {
          await repository.fetchTag(resolved, options);
          await repository.verify(resolved, { format: verify.format, keys: signers }, signal);
        }
        this.#options.received(Math.max(0, (await packBytes(repository.folder)) - before));
        await repository.prune([commit], signal);
        return new Map([['', true]]);
      });
    // The tag counts too: only its signature may be valid.
    const how = verify
      ? `verify ${commit} ${this.identities.digest([verify, source.namespace, resolved.tag])}`
      : `fetch ${commit}`;
    return needs.request<boolean>({ source: source.id, name: how, trigger, run });
  }

  /** The credentials are read for each operation, so that none are kept. */
  async #withRepository<T>(
    source: GitSource,
    signal: AbortSignal,
    work: (repository: GitRepository, options: RemoteOptions, secrets: GitSecrets) => Promise<T>,
  ): Promise<T> {
    const { config, client } = this.#options;
    const { git, namespace } = source;
    using folder = await this.#folders.borrow(source.id);
    const url = parseGitUrl(git.repo, { allowPlainHttp: config.allowPlainHttp });
    const read = await readGitSecrets(client, namespace, git);
    if ('problem' in read) {
      throw new GitError('AuthenticationFailed', 'a Secret is missing', { host: url.host, remedy: read.problem });
    }
    const { secrets } = read;
    const credentials = await this.#credentials(source, secrets);
    signal.throwIfAborted();
    const repository = await GitRepository.open(this.#runner, folder.path);
    const { ca } = secrets;
    await using access = await openAccess({ runner: this.#runner, url, credentials, ca, proxy: proxyOf(config) });
    const result = await work(repository, { connection: access.connection, signal }, secrets);
    await this.#pinFirstKeys(source, access, url.host);
    return result;
  }

  async #credentials(source: GitSource, secrets: GitSecrets): Promise<GitCredentials> {
    const { sshKey, githubApp, token } = source.git.auth ?? {};
    if (sshKey) {
      const pinned = this.#pins.get(source.id);
      const knownHosts = secrets.knownHosts ?? pinned?.join('\n');
      return { type: 'ssh', privateKey: secrets.sshKey ?? '', knownHosts };
    }
    if (token) return { type: 'token', token: secrets.token ?? '', username: token.username };
    if (!githubApp) return { type: 'none' };
    const issued = await this.#tokens.token(gitHubApp(githubApp, secrets));
    this.#issued.set(source.id, issued);
    return { type: 'token', token: issued.token };
  }

  /** A key that differs from the pinned one was refused by OpenSSH, except if only its fingerprint is known. */
  async #pinFirstKeys(source: GitSource, access: GitAccess, host: string): Promise<void> {
    if (!isPinning(source.git) || this.#pins.has(source.id)) return;
    const lines = await access.hostKeys();
    if (lines.length === 0) return;
    const isChanged = source.pinned.length > 0 && fingerprints(lines).some((each) => !source.pinned.includes(each));
    if (isChanged) {
      throw new GitError('HostKeyChanged', `the host key of ${host} is not the pinned one`, {
        host,
        remedy: 'if the change is intended, set git.auth.sshKey.knownHosts',
      });
    }
    this.#pins.set(source.id, lines);
  }

  #use(user: string, source: string): void {
    const previous = this.#sources.get(user);
    this.#sources.set(user, source);
    this.#folders.use(user, source);
    if (previous !== undefined && previous !== source) this.#forgetUnused(previous);
  }

  #forgetUnused(source: string): void {
    if (this.#folders.isUsed(source)) return;
    this.#pins.delete(source);
    this.#issued.delete(source);
  }
}

/** packBytes returns the size of the packs of a repository: each fetch adds one. */
async function packBytes(folder: string): Promise<number> {
  const packs = join(folder, 'objects', 'pack');
  const names = await readdir(packs).catch(() => []);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(packs, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function select(resolved: Resolution, refs: readonly string[]): Resolution {
  return new Map([...resolved].filter(([ref]) => refs.includes(ref)));
}

function gitHubApp(app: NonNullable<NonNullable<GitSpec['auth']>['githubApp']>, secrets: GitSecrets): GitHubApp {
  const { appId, installationId, apiBaseURL } = app;
  return { appId, installationId, apiBaseUrl: apiBaseURL, privateKey: secrets.appKey ?? '', ca: secrets.ca };
}

function proxyOf({ proxy }: Config): GitProxy | undefined {
  return proxy?.https === undefined ? undefined : { https: proxy.https, no: proxy.no.join(',') };
}
