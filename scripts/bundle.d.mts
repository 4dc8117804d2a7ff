/**
 * bundle writes `bowline.js` and its chunks to a folder, removes the files of earlier builds, and returns the path of bowline.js.
 */
export function bundle(options: { readonly entry: string; readonly folder: string }): Promise<string>;
