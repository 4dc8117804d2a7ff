import { createRequire } from 'node:module';

/** Set by the build; absent when the command line runs from source. */
declare const __BOWLINE_VERSION__: string | undefined;

/** bowlineVersion holds the version of this build. */
export const bowlineVersion: string =
  typeof __BOWLINE_VERSION__ === 'string' ? __BOWLINE_VERSION__ : readPackage('../package.json').version;

/** supportedKubernetes holds the oldest version that every release supports, and the version it was tested with. */
export const supportedKubernetes = { oldest: '1.30', tested: '1.35.8' } as const;

function readPackage(path: string): { readonly version: string } {
  return createRequire(import.meta.url)(path) as { version: string };
}
