import type { Transform } from '../transforms/transform.ts';

/** TreeEntry is one line of the listing of a commit. */
export interface TreeEntry {
  /** Relative to the root of the repository. */
  readonly path: string;
  /** Git's mode: 100644, 100755, 120000 for a link, 160000 for a submodule. */
  readonly mode: string;
  /** The id of the blob. */
  readonly blob: string;
  /** In bytes. Git knows it only after the blob was fetched; the blob source reports it then. */
  readonly size?: number | undefined;
}

/** FileMode is the mode of a placed file. */
export type FileMode = 0o644 | 0o755;

/** DesiredFile is one file that a sync places. */
export interface DesiredFile {
  /** Relative to the data folder. */
  readonly path: string;
  readonly blob: string;
  readonly mode: FileMode;
  /** The path in the repository; '' for content that the engine generates. */
  readonly source: string;
  readonly size?: number | undefined;
  /** In the order in which they are applied. */
  readonly transforms: readonly Transform[];
  /** A hash of the transforms, '' without any. */
  readonly transformHash: string;
  /** Generated content. Defaults to the content of the blob. */
  readonly content?: string | undefined;
}

/** DesiredTree is the result of a sync: the files of a gateway, by path. */
export interface DesiredTree {
  readonly files: ReadonlyMap<string, DesiredFile>;
  /** The destinations of the mapped folders that exist in the commit. Nested ones are contained. */
  readonly roots: readonly string[];
  /** Whether a path below the data folder is outside the sync: neither placed nor deleted. */
  readonly isExcluded: (path: string) => boolean;
  /** The paths of `normalize.fields`, by their index. */
  readonly fields: readonly string[];
}
