import { configureProvider, jasmWith, providerKinds } from '@bowline/jasm';
import type { Operator } from '@bowline/runtime';
import { files } from './kind.ts';

/** withFiles is JASM with one provider more. */
export function withFiles(folder: string): Operator {
  return jasmWith({
    providers: (config) => new Map([...providerKinds(config), [files.name, configureProvider(files, { folder })]]),
  });
}
