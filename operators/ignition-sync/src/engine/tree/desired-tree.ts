import { renderTemplate, TemplateError } from '../../templates/render-template.ts';
import type { TemplateVariables } from '../../templates/template-variables.ts';
import { SyncError } from '../sync-error.ts';
import { hashTransforms, type Transform, templateFailed } from '../transforms/transform.ts';
import { blobId } from './blob-id.ts';
import { checkCollisions } from './check-collisions.ts';
import { checkLimits, type TreeLimits } from './check-limits.ts';
import { compilePatterns, isAlwaysExcluded } from './excluded-paths.ts';
import { EXACT_NAMES, type NameRules } from './fold-path.ts';
import type { Mapping } from './mapping.ts';
import { checkPath, checkSource, pathProblem } from './safe-path.ts';
import type { DesiredFile, DesiredTree, TreeEntry } from './tree-entry.ts';

/** Field sets a value in every `config.json` that has its path. */
export interface Field {
  readonly jsonPath: string;
  readonly valueTemplate: string;
}

/** TreeSettings configures which files of a commit a gateway gets, where, and how they are changed. */
export interface TreeSettings {
  /** Later mappings override earlier ones. */
  readonly mappings: readonly Mapping[];
  /** The folder that must exist. Defaults to none. */
  readonly servicePath?: string | undefined;
  /** Globs for destinations. Defaults to none. */
  readonly excludePatterns?: readonly string[] | undefined;
  readonly variables?: TemplateVariables | undefined;
  /** A template for the system name in every `config.json`. Defaults to no change. */
  readonly systemName?: string | undefined;
  readonly fields?: readonly Field[] | undefined;
  /** The names that the data folder distinguishes. Defaults to all. */
  readonly names?: NameRules | undefined;
  readonly limits?: TreeLimits | undefined;
}

/**
 * desiredTree returns the files that a gateway should have, from the listing of a commit. It is pure. It throws `SyncError` if
 * the listing or the settings must not be placed.
 */
export function desiredTree(listing: readonly TreeEntry[], settings: TreeSettings): DesiredTree {
  const { excludePatterns = [], names = EXACT_NAMES, fields = [], limits } = settings;
  const matches = compilePatterns(excludePatterns);
  const isExcluded = (path: string): boolean => isAlwaysExcluded(path) || matches(path);
  const builder = new TreeBuilder(listing, settings);
  for (const mapping of settings.mappings) builder.place(mapping);
  const placed = [...builder.files].filter(([path]) => !isExcluded(path));
  for (const [path, file] of placed) checkEntry(path, file);
  checkLimits(placed, limits);
  checkCollisions(
    placed.map(([path]) => path),
    names,
  );
  const files = new Map(placed.map(([path, file]) => [path, builder.finish(path, file)]));
  return { files, roots: [...builder.roots], isExcluded, fields: fields.map(({ jsonPath }) => jsonPath) };
}

/** PlacedEntry is an entry of the listing, or generated content, at a destination. */
interface PlacedEntry {
  readonly entry: TreeEntry;
  readonly mapping: Mapping;
  /** Relative to the mapping's destination. */
  readonly relative: string;
  readonly content?: string;
}

class TreeBuilder {
  readonly files = new Map<string, PlacedEntry>();
  readonly roots = new Set<string>();
  readonly #listing: readonly TreeEntry[];
  readonly #byPath: ReadonlyMap<string, TreeEntry>;
  readonly #settings: TreeSettings;
  readonly #variables: TemplateVariables;
  readonly #nameTransforms: readonly Transform[];

  constructor(listing: readonly TreeEntry[], settings: TreeSettings) {
    this.#listing = listing;
    this.#byPath = new Map(listing.map((entry) => [entry.path, entry]));
    this.#settings = settings;
    this.#variables = settings.variables ?? {};
    this.#nameTransforms = this.#transformsOfConfigFiles();
    if (settings.servicePath !== undefined) this.#checkServicePath(settings.servicePath);
  }

  place(mapping: Mapping): void {
    const source = checkSource(this.#render(mapping.source, mapping.source));
    const destination = this.#render(mapping.destination, mapping.destination).replace(/\/+$/, '');
    const found = this.#find(source, mapping.type);
    if (found === undefined) {
      this.#refuseMissing(source, mapping);
      return;
    }
    if (!mapping.eachProject) checkPath(destination);
    for (const target of mapping.eachProject ? this.#projectFolders(destination) : [destination])
      this.#placeAt(target, found, mapping);
  }

  /** finish resolves the transforms of a file. */
  finish(path: string, { entry, mapping, relative, content }: PlacedEntry): DesiredFile {
    const isConfig = content === undefined && (path === 'config.json' || path.endsWith('/config.json'));
    const transforms: Transform[] = [];
    if (mapping.template && content === undefined) transforms.push({ kind: 'template', variables: this.#variables });
    if (isConfig) transforms.push(...this.#nameTransforms);
    for (const { file, set } of content === undefined ? (mapping.patches ?? []) : []) {
      if (!compilePatterns([file])(relative)) continue;
      for (const [jsonPath, template] of Object.entries(set))
        transforms.push({ kind: 'patch', jsonPath, value: this.#render(template, path) });
    }
    const mode = entry.mode === '100755' ? 0o755 : 0o644;
    const { blob, size, path: source } = entry;
    return { path, blob, mode, source, size, transforms, transformHash: hashTransforms(transforms), content };
  }

  #placeAt(destination: string, found: FoundSource, mapping: Mapping): void {
    if (found.isFile) {
      const [entry] = found.entries;
      const relative = destination.slice(destination.lastIndexOf('/') + 1);
      if (entry !== undefined) this.#put(destination, { entry, mapping, relative });
      return;
    }
    // The folder of a project with an unsafe name is no root; its files are refused unless they are excluded.
    if (!mapping.withheld && pathProblem(destination) === undefined) this.roots.add(destination);
    const from = found.source === '' ? 0 : found.source.length + 1;
    for (const entry of found.entries) {
      const relative = entry.path.slice(from);
      this.#put(`${destination}/${relative}`, { entry, mapping, relative });
    }
  }

  #put(path: string, file: PlacedEntry): void {
    // A later mapping decides about the order of the files, too: the map keeps the order of insertion.
    this.files.delete(path);
    if (!file.mapping.withheld) this.files.set(path, file);
  }

  #find(source: string, type: Mapping['type']): FoundSource | undefined {
    const exact = this.#byPath.get(source);
    if (exact !== undefined && type !== 'dir') return { source, isFile: true, entries: [exact] };
    const prefix = source === '' ? '' : `${source}/`;
    const entries = type === 'file' ? [] : this.#listing.filter(({ path }) => path.startsWith(prefix));
    if (entries.length > 0) return { source, isFile: false, entries };
    this.#refuseLinkedSource(source);
    return undefined;
  }

  /** A source below a link or a submodule is not missing: it is not reachable. */
  #refuseLinkedSource(source: string): void {
    const segments = source.split('/');
    for (let count = 1; count <= segments.length; count++) {
      const entry = this.#byPath.get(segments.slice(0, count).join('/'));
      if (entry !== undefined) checkMode(entry.path, entry);
    }
  }

  #refuseMissing(source: string, { required, fallback }: Mapping): void {
    if (required) {
      throw new SyncError('SourceNotFound', {
        path: source,
        problem: 'the source of a required mapping does not exist in the commit',
        remedy: 'add it to the repository, correct the mapping, or make it optional',
      });
    }
    if (fallback === undefined) return;
    const { path, content } = fallback;
    const entry = { path: '', mode: '100644', blob: blobId(content), size: Buffer.byteLength(content) };
    this.#put(path, { entry, mapping: { source: '', destination: path }, relative: path, content });
  }

  /** The folders of `path` in each project that is placed so far. */
  #projectFolders(path: string): string[] {
    const projects = new Set<string>();
    for (const placed of this.files.keys()) {
      const [, project] = /^projects\/([^/]+)\//.exec(placed) ?? [];
      if (project !== undefined) projects.add(project);
    }
    return [...projects].map((project) => `projects/${project}${path === '' || path === '.' ? '' : `/${path}`}`);
  }

  #checkServicePath(servicePath: string): void {
    const path = checkSource(this.#render(servicePath, servicePath));
    if (this.#find(path, 'dir') !== undefined) return;
    throw new SyncError('ServicePathNotFound', {
      path: servicePath,
      problem: 'the folder does not exist in the commit',
      remedy: 'correct the service-path of the pod or add the folder to the repository',
    });
  }

  #transformsOfConfigFiles(): Transform[] {
    const { systemName, fields = [] } = this.#settings;
    const name = systemName === undefined ? undefined : this.#render(systemName, 'normalize.systemName');
    return [
      ...(name === undefined ? [] : [{ kind: 'system-name', value: name } as const]),
      ...fields.map(({ jsonPath, valueTemplate }, field) => {
        const value = this.#render(valueTemplate, `normalize.fields[${field}]`);
        return { kind: 'field', jsonPath, value, field } as const;
      }),
    ];
  }

  #render(template: string, path: string): string {
    try {
      return renderTemplate(template, this.#variables, { source: path });
    } catch (error) {
      throw error instanceof TemplateError ? templateFailed(path, error) : error;
    }
  }
}

interface FoundSource {
  readonly source: string;
  readonly isFile: boolean;
  readonly entries: readonly TreeEntry[];
}

function checkEntry(path: string, { entry }: PlacedEntry): void {
  checkMode(path, entry);
  checkPath(path);
}

function checkMode(path: string, { mode, path: source }: TreeEntry): void {
  if (mode === '120000') {
    throw new SyncError('SymlinkInRepository', {
      path,
      problem: `${source} is a symbolic link in the repository`,
      remedy: 'exclude it with excludePatterns or replace it with a file',
    });
  }
  if (mode === '160000') {
    throw new SyncError('SubmoduleInRepository', {
      path,
      problem: `${source} is a submodule`,
      remedy: 'set git.submodules, exclude it with excludePatterns or remove it',
    });
  }
}
