import { SyncError } from '../../engine/sync-error.ts';
import type { TreeEntry } from '../../engine/tree/tree-entry.ts';
import type { GitUrl, GitUrlOptions } from '../address/git-url.ts';
import type { GitRepository, RemoteOptions } from '../repository/git-repository.ts';
import { moduleUrl } from './module-url.ts';

/** SubmoduleRemote is where the files of a submodule are fetched from. */
export interface SubmoduleRemote {
  readonly url: GitUrl;
  readonly commit: string;
  /** The blobs that `GitRepository.fetchBlobs` fetches with a connection to `url`. */
  readonly blobs: ReadonlySet<string>;
}

/** ExpandedTree is the listing of a commit with the files of its submodules. */
export interface ExpandedTree {
  readonly entries: readonly TreeEntry[];
  /** Their commits must be kept: pass them to `GitRepository.prune`. */
  readonly remotes: readonly SubmoduleRemote[];
}

/** SubmoduleOptions describes the repository that contains the submodules. */
export interface SubmoduleOptions extends GitUrlOptions {
  readonly commit: string;
  readonly url: GitUrl;
  /** fetch calls the function with a connection to an address of the same origin. */
  readonly fetch: (url: GitUrl, work: (options: RemoteOptions) => Promise<void>) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

const SUBMODULE = '160000';
/** MAX_DEPTH is the maximum number of submodules inside each other. */
export const MAX_DEPTH = 4;
/** MAX_SUBMODULES is the maximum number of submodules of one commit. */
export const MAX_SUBMODULES = 64;
/** More than a sync places, because excluded files count here. */
const MAX_ENTRIES = 200_000;

/**
 * expandSubmodules replaces submodules in a listing with their files at the recorded commits, which it fetches. Submodules of another
 * origin, or too many of them, are refused with SubmoduleInRepository. Nothing is fetched if the listing has no submodules.
 *
 * An agent calls it with what it has listed when `git.submodules` is true, and fetches the blobs of each remote with a connection to
 * its address; without it, submodules are refused by the engine.
 */
export async function expandSubmodules(
  repository: GitRepository,
  entries: readonly TreeEntry[],
  options: SubmoduleOptions,
): Promise<ExpandedTree> {
  const expansion = new Expansion(repository, options);
  const { commit, url } = options;
  await expansion.add(entries, { commit, url, prefix: '', depth: 0 });
  return { entries: expansion.entries, remotes: expansion.remotes };
}

interface Parent {
  readonly commit: string;
  readonly url: GitUrl;
  /** The path of the parent in the repository, with a final slash; empty for the repository itself. */
  readonly prefix: string;
  readonly depth: number;
}

class Expansion {
  readonly entries: TreeEntry[] = [];
  readonly remotes: SubmoduleRemote[] = [];
  readonly #repository: GitRepository;
  readonly #options: SubmoduleOptions;

  constructor(repository: GitRepository, options: SubmoduleOptions) {
    this.#repository = repository;
    this.#options = options;
  }

  async add(listed: readonly TreeEntry[], parent: Parent): Promise<void> {
    const submodules = listed.filter(({ mode }) => mode === SUBMODULE);
    const urls = submodules.length === 0 ? new Map<string, string>() : await this.#urls(parent);
    for (const entry of listed) if (entry.mode !== SUBMODULE) this.#push(entry);
    for (const entry of submodules) await this.#expand(entry, urls, parent);
  }

  #push(entry: TreeEntry): void {
    this.entries.push(entry);
    if (this.entries.length <= MAX_ENTRIES) return;
    throw new SyncError('TooManyFiles', {
      path: entry.path,
      problem: `the repository and its submodules have more than ${MAX_ENTRIES} files`,
      remedy: 'map fewer folders, or remove submodules',
    });
  }

  async #expand(entry: TreeEntry, urls: ReadonlyMap<string, string>, parent: Parent): Promise<void> {
    const { path, blob: commit } = entry;
    const { signal, fetch } = this.#options;
    const relative = path.slice(parent.prefix.length);
    const configured = urls.get(relative);
    if (configured === undefined) throw refused(path, '.gitmodules has no url for it');
    const url = moduleUrl(parent.url, configured, this.#options);
    if (!url) throw refused(path, `its url is not valid, or has another origin than ${parent.url.origin}`);
    if (parent.depth >= MAX_DEPTH) throw refused(path, `it is more than ${MAX_DEPTH} submodules deep`);
    if (this.remotes.length >= MAX_SUBMODULES) throw refused(path, `there are more than ${MAX_SUBMODULES} submodules`);
    if (!(await this.#repository.hasCommit(commit)))
      await fetch(url, (remote) => this.#repository.fetchCommit({ commit }, remote));
    const prefix = `${path}/`;
    const listed: TreeEntry[] = [];
    for await (const file of this.#repository.listTree(commit, [], signal))
      listed.push({ path: `${prefix}${file.path}`, mode: file.mode, blob: file.hash });
    const blobs = new Set(listed.filter(({ mode }) => mode !== SUBMODULE).map(({ blob }) => blob));
    this.remotes.push({ url, commit, blobs });
    await this.add(listed, { commit, url, prefix, depth: parent.depth + 1 });
  }

  /** The urls in .gitmodules by the paths of the submodules. */
  async #urls({ commit, url, prefix }: Parent): Promise<ReadonlyMap<string, string>> {
    const { signal, fetch } = this.#options;
    for await (const { path, mode, hash } of this.#repository.listTree(commit, ['.gitmodules'], signal)) {
      if (path !== '.gitmodules' || !mode.startsWith('100')) continue;
      await fetch(url, async (remote) => void (await this.#repository.fetchBlobs([hash], { commit }, remote)));
      return modulesIn(await this.#repository.readConfig(hash, signal));
    }
    throw refused(`${prefix}.gitmodules`, 'the file is missing, so submodules have no address');
  }
}

const KEY = /^submodule\.(.+)\.(path|url)$/s;

function modulesIn(settings: readonly (readonly [key: string, value: string])[]): ReadonlyMap<string, string> {
  const modules = new Map<string, { path?: string; url?: string }>();
  for (const [key, value] of settings) {
    const [, name = '', field] = KEY.exec(key) ?? [];
    if (field !== 'path' && field !== 'url') continue;
    modules.set(name, { ...modules.get(name), [field]: value });
  }
  return new Map(
    [...modules.values()].flatMap(({ path, url }) =>
      path === undefined || url === undefined ? [] : [[path.replace(/\/+$/, ''), url] as const],
    ),
  );
}

function refused(path: string, problem: string): SyncError {
  return new SyncError('SubmoduleInRepository', {
    path,
    problem: `the submodule cannot be used: ${problem}`,
    remedy: 'correct .gitmodules, or remove the submodule',
  });
}
