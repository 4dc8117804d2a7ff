/**
 * bundle writes `bowline.js` and its chunks to a folder, removes the files of earlier builds, and returns the path of bowline.js.
 */
export function bundle(options: { readonly entry: string; readonly folder: string }): Promise<string>;

/**
 * bundleWithInputs is `bundle`, and also returns the source files that the bundle consists of, relative to the repository. Without
 * source maps, which contain the path from the folder to the sources, the bundle is the same wherever the repository is.
 */
export function bundleWithInputs(options: {
  readonly entry: string;
  readonly folder: string;
  /** Defaults to true. */
  readonly sourcemap?: boolean;
}): Promise<{ readonly main: string; readonly inputs: readonly string[] }>;
