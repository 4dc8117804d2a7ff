import { createRequire } from 'node:module';

/** Set by the bundler: a bundled program has no package.json next to it. */
declare const __BOWLINE_VERSION__: string | undefined;

/** agentVersion returns the version of this build. */
export function agentVersion(): string {
  if (typeof __BOWLINE_VERSION__ === 'string') return __BOWLINE_VERSION__;
  const { version } = createRequire(import.meta.url)('../../package.json') as { readonly version: string };
  return version;
}
