import { PathInvalid, type ProviderKind } from '@bowline/jasm';

/** FilesConfig is what the provider is told. */
export interface FilesConfig {
  /** The folder that holds the secrets, each a file. */
  readonly folder: string;
}

const pathFormat = 'the name of a file: letters, digits, - and _, up to 100 of them';

/** files reads secrets from files of a folder, for instance of a volume of the operator's pod. */
export const files: ProviderKind<FilesConfig> = {
  name: 'files',
  pathFormat,
  names(path) {
    // What is no name could lead out of the folder.
    if (!/^[\w-]{1,100}$/.test(path))
      throw new PathInvalid(`${JSON.stringify(path)} is no path; a path is ${pathFormat}`);
    return [path];
  },
  load: async (context) => {
    const { FilesProvider } = await import('./files-provider.ts');
    return new FilesProvider(context);
  },
};
