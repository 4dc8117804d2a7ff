import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, type JsonObject } from '@bowline/machinery';

/** LoadedProject is a project that was found in the data folder. */
export interface LoadedProject {
  readonly name: string;
  readonly title: string;
  readonly resources: number;
  /** Why it cannot be used. Empty: nothing is wrong. */
  readonly problem: string;
}

/** LoadedFolder is what the gateway holds of `projects` or `config` after a scan. */
export interface LoadedFolder {
  /** Empty for config. */
  readonly projects: readonly LoadedProject[];
  /** The content of each resource, by its path below the data folder. */
  readonly resources: ReadonlyMap<string, string>;
  /**
   * A hash of all names and contents that were loaded. It does not depend on the attributes that a gateway rewrites, so
   * that folders with the same files have the same hash.
   */
  readonly hash: string;
  readonly files: number;
  /** Resources and projects that cannot be used, and why. */
  readonly problems: readonly string[];
}

/** LoadOptions configures a load. */
export interface LoadOptions {
  /** Projects that cannot be loaded, whatever they contain. */
  readonly brokenProjects?: readonly string[] | undefined;
}

/** The attributes of a resource.json that a gateway rewrites. */
export const REWRITTEN = ['lastModification', 'lastModificationSignature'] as const;
/** The gateway's own folder, in every folder; the agent's, which the gateway does not know. */
const IGNORED = /^\./;
/** Metadata is small; a larger file is none. */
const MAX_METADATA_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 64;

/** loadProjects reads `projects/*` as a gateway does: a folder with a project.json is a project. */
export async function loadProjects(dataFolder: string, options: LoadOptions = {}): Promise<LoadedFolder> {
  const reader = new FolderReader(dataFolder);
  const projects: LoadedProject[] = [];
  for (const { name } of (await entriesOf(join(dataFolder, 'projects'))).filter((entry) => entry.isDirectory())) {
    const path = `projects/${name}`;
    const about = await reader.metadata(`${path}/project.json`);
    if (about === undefined) continue;
    const before = reader.resources.size;
    await reader.readResources(path);
    const isBroken = options.brokenProjects?.includes(name) ?? false;
    const problem = isBroken ? 'the project cannot be loaded' : typeof about === 'string' ? about : '';
    if (problem) reader.problems.push(`${path}: ${problem}`);
    const title = isObject(about) && typeof about.title === 'string' ? about.title : '';
    projects.push({ name, title, resources: reader.resources.size - before, problem });
  }
  return reader.result(projects);
}

/** loadConfig reads the resources in `config/resources`. */
export async function loadConfig(dataFolder: string): Promise<LoadedFolder> {
  const reader = new FolderReader(dataFolder);
  await reader.readResources('config/resources');
  return reader.result([]);
}

class FolderReader {
  readonly resources = new Map<string, string>();
  readonly problems: string[] = [];
  readonly #dataFolder: string;
  readonly #all = createHash('sha256');
  #files = 0;

  constructor(dataFolder: string) {
    this.#dataFolder = dataFolder;
  }

  result(projects: readonly LoadedProject[]): LoadedFolder {
    const { resources, problems } = this;
    return { projects, resources, hash: this.#all.digest('hex'), files: this.#files, problems };
  }

  /** Returns a file that makes its folder a project or resource, the problem with it, or undefined if it is missing. */
  async metadata(path: string): Promise<JsonObject | string | undefined> {
    const text = await readMetadata(join(this.#dataFolder, path));
    if (text === undefined) return undefined;
    const value = parsed(text);
    add(this.#all, path, isObject(value) ? stableText(value) : text);
    this.#files++;
    return isObject(value) ? value : `${path.slice(path.lastIndexOf('/') + 1)} is not a JSON object`;
  }

  /** Reads every folder with a resource.json, at any depth. */
  async readResources(path: string, depth = 0): Promise<void> {
    if (depth > MAX_DEPTH) throw new Error(`folders below ${path} are nested too deeply`);
    const entries = await entriesOf(join(this.#dataFolder, path));
    if (entries.some((entry) => entry.isFile() && entry.name === 'resource.json'))
      await this.#readResource(
        path,
        entries.filter((entry) => entry.isFile()).map((entry) => entry.name),
      );
    for (const entry of entries) if (entry.isDirectory()) await this.readResources(`${path}/${entry.name}`, depth + 1);
  }

  async #readResource(path: string, names: readonly string[]): Promise<void> {
    const about = await this.metadata(`${path}/resource.json`);
    if (about === undefined) return;
    const content = createHash('sha256');
    if (typeof about === 'string') this.problems.push(`${path}: ${about}`);
    else {
      add(content, 'resource.json', stableText(about));
      const listed = Array.isArray(about.files) ? about.files : [];
      for (const file of listed)
        if (!names.includes(String(file))) this.problems.push(`${path}: the file ${String(file)} is missing`);
    }
    for (const name of names) {
      if (name === 'resource.json') continue;
      const hash = await hashOf(join(this.#dataFolder, path, name));
      if (hash === undefined) continue;
      add(content, name, hash);
      add(this.#all, `${path}/${name}`, hash);
      this.#files++;
    }
    this.resources.set(path, content.digest('hex'));
  }
}

/** stableText returns a resource.json without what a gateway rewrites. */
function stableText(value: JsonObject): string {
  const { attributes, ...rest } = value;
  if (!isObject(attributes)) return JSON.stringify(value);
  const kept = Object.entries(attributes).filter(([key]) => !REWRITTEN.some((each) => each === key));
  // A gateway adds the attributes to a file that has none.
  return JSON.stringify(kept.length === 0 ? rest : { ...rest, attributes: Object.fromEntries(kept) });
}

/** Lengths separate names and contents: no two different folders give the same sequence. */
function add(hash: Hash, name: string, content: string): void {
  for (const text of [name, content]) hash.update(`${Buffer.byteLength(text)}:`).update(text);
}

/** In the order of names, whatever the file system returns. Missing: none. */
async function entriesOf(folder: string) {
  const entries = await readdir(folder, { withFileTypes: true }).catch(orMissing);
  return (entries ?? []).filter((entry) => !IGNORED.test(entry.name)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function readMetadata(path: string): Promise<string | undefined> {
  const about = await stat(path).catch(orMissing);
  if (!about?.isFile()) return undefined;
  if (about.size > MAX_METADATA_BYTES) return '';
  return await readFile(path, 'utf8').catch(orMissing);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Files may be large, so their content is streamed. Undefined if the file was removed meanwhile. */
async function hashOf(path: string): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
    return hash.digest('hex');
  } catch (error) {
    return orMissing(error);
  }
}

/** orMissing is undefined for a file that does not exist, also because files change while they are read. */
function orMissing(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}
