import type { GitConnection, GitSetting } from './git-connection.ts';

/** TRACE_DESCRIPTOR is the file descriptor on which git reports the headers of HTTP responses. */
export const TRACE_DESCRIPTOR = 3;

/**
 * Settings of every command. No hook, helper or background process runs. The limits of memory: larger files are streamed, and
 * caches and windows are small. Every fetch keeps its pack, so that the size of a transfer is the size of one file.
 */
const COMMON: readonly GitSetting[] = [
  ['safe.directory', '*'],
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.askPass', ''],
  ['credential.helper', ''],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['transfer.unpackLimit', '1'],
  ['transfer.bundleURI', 'false'],
  ['fetch.writeCommitGraph', 'false'],
  ['core.bigFileThreshold', '8m'],
  ['core.deltaBaseCacheLimit', '16m'],
  ['core.packedGitLimit', '64m'],
  ['core.packedGitWindowSize', '16m'],
  ['pack.threads', '1'],
  ['pack.windowMemory', '32m'],
  ['pack.writeReverseIndex', 'false'],
  ['protocol.version', '2'],
  ['advice.detachedHead', 'false'],
];

/**
 * The remote is a promisor: git accepts that blobs are missing. In the environment and not in the repository's configuration, so
 * that only commands with a connection could ever fetch what is missing, and nothing about the remote is written to disk.
 */
function remoteSettings({ url, settings }: GitConnection): readonly GitSetting[] {
  return [
    ['remote.origin.url', url],
    ['remote.origin.promisor', 'true'],
    ['remote.origin.partialclonefilter', 'blob:none'],
    ['http.followRedirects', 'false'],
    ...settings,
  ];
}

/** GitEnvironmentOptions describes one git process. */
export interface GitEnvironmentOptions {
  readonly path: string;
  /** The folder for HOME and temporary files. */
  readonly scratchFolder: string;
  readonly gitDir: string | undefined;
  readonly connection: GitConnection | undefined;
  readonly settings: readonly GitSetting[];
  /** Further variables. */
  readonly env: Readonly<Record<string, string>>;
}

/** gitEnvironment returns the complete environment of a git process: nothing of this process's own is inherited. */
export function gitEnvironment(options: GitEnvironmentOptions): Record<string, string> {
  const { path, scratchFolder, gitDir, connection } = options;
  const settings = [...COMMON, ...(connection ? remoteSettings(connection) : []), ...options.settings];
  return {
    PATH: path,
    HOME: scratchFolder,
    TMPDIR: scratchFolder,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LITERAL_PATHSPECS: '1',
    // Empty: no protocol at all. A command without a connection cannot fetch, whatever it finds to be missing.
    GIT_ALLOW_PROTOCOL: connection?.scheme ?? '',
    ...(connection ? { GIT_TRACE_CURL: String(TRACE_DESCRIPTOR), GIT_TRACE_CURL_NO_DATA: '1', ...connection.env } : {}),
    ...(gitDir === undefined ? {} : { GIT_DIR: gitDir }),
    ...options.env,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}
