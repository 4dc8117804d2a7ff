import { PathInvalid, type ProviderKind } from '@bowline/jasm';

/** FilesConfig configures the provider. */
export interface FilesConfig {
  /** The folder with the secrets, one file each. */
  readonly folder: string;
}

const pathFormat = 'the name of a file: letters, digits, - and _, up to 100 of them';

/** files reads secrets from the files of a folder, for example of a volume of the operator's pod. */
export const files: ProviderKind<FilesConfig> = {
  name: 'files',
  pathFormat,
  names(path) {
    // Any other path could lead out of the folder.
    if (!/^[\w-]{1,100}$/.test(path))
      throw new PathInvalid(`${JSON.stringify(path)} is not a valid path; a path is ${pathFormat}`);
    return [path];
  },
  load: async (context) => {
    const { FilesProvider } = await import('./files-provider.ts');
    return new FilesProvider(context);
  },
};
