/** Patch sets values in the JSON files of a mapping. */
export interface Patch {
  /** A glob for paths relative to the mapping's destination. For a file mapping, the name of the file. */
  readonly file: string;
  /** Value templates by JSON path. */
  readonly set: Readonly<Record<string, string>>;
}

/** Mapping places a file or folder of the repository on the gateway. Paths may contain template variables. */
export interface Mapping {
  /** In the repository; `.` is its root. */
  readonly source: string;
  /** On the gateway, or below each project with `eachProject`. */
  readonly destination: string;
  /** Defaults to what the source is. */
  readonly type?: 'dir' | 'file' | undefined;
  /** Whether a missing source stops the sync. Defaults to false: the mapping is ignored. */
  readonly required?: boolean | undefined;
  /** Whether template variables in the files are replaced. Defaults to false. */
  readonly template?: boolean | undefined;
  readonly patches?: readonly Patch[] | undefined;
  /** Whether the files are placed into every project that earlier mappings place. Defaults to false. */
  readonly eachProject?: boolean | undefined;
  /** Whether the destinations are removed from the tree instead of placed. Defaults to false. */
  readonly withheld?: boolean | undefined;
  /** A file that is generated when the source is missing. Defaults to none. */
  readonly fallback?: { readonly path: string; readonly content: string } | undefined;
}
