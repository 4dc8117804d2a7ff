/** bundle writes `bowline.js` and its chunks to a folder, removes what earlier builds left there, and answers the path of bowline.js. */
export function bundle(options: { readonly entry: string; readonly folder: string }): Promise<string>;
