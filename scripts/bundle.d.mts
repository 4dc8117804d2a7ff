/**
 * bundle writes `bowline.js` and its chunks to a folder, removes the files of earlier builds, and returns the path of bowline.js.
 */
export function bundle(options: { readonly entry: string; readonly folder: string }): Promise<string>;

/** bundleWithInputs is `bundle`, and also returns the source files that the bundle consists of, relative to the repository. */
export declare function bundleWithInputs(options: {
  readonly entry: string;
  readonly folder: string;
}): Promise<{ readonly main: string; readonly inputs: readonly string[] }>;
