import type { GitScheme } from '../address/git-url.ts';

/** GitSetting is one entry of git's configuration. */
export type GitSetting = readonly [key: string, value: string];

/**
 * GitConnection is what a command needs to talk to one remote: its address, and the configuration and environment with the
 * credentials. git calls the remote `origin`.
 */
export interface GitConnection {
  readonly url: string;
  readonly scheme: GitScheme;
  /** For messages. */
  readonly host: string;
  readonly settings: readonly GitSetting[];
  readonly env: Readonly<Record<string, string>>;
}
