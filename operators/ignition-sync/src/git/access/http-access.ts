import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitSetting } from '../runner/git-connection.ts';
import type { GitAccessOptions } from './open-access.ts';

/** httpSettings returns the configuration and the environment of an HTTP connection. */
export async function httpSettings(
  options: Pick<GitAccessOptions, 'url' | 'credentials' | 'ca' | 'proxy'> & { readonly folder: string },
): Promise<{ readonly settings: readonly GitSetting[]; readonly env: Readonly<Record<string, string>> }> {
  const { url, credentials, ca, proxy, folder } = options;
  // Bound to the origin: git sends these to no other host, whatever a response contains.
  const http = `http.${url.origin}/`;
  const settings: GitSetting[] = [];
  if (credentials.type === 'token') {
    const { username = 'x-access-token', token } = credentials;
    const basic = Buffer.from(`${username}:${token.trim()}`).toString('base64');
    settings.push([`${http}.extraHeader`, `Authorization: Basic ${basic}`]);
  }
  if (ca !== undefined) {
    const file = join(folder, 'ca.pem');
    await writeFile(file, ca, { mode: 0o600 });
    settings.push([`${http}.sslCAInfo`, file]);
  }
  if (proxy === undefined) return { settings, env: {} };
  settings.push([`${http}.proxy`, proxy.https]);
  return { settings, env: { NO_PROXY: proxy.no ?? '', no_proxy: proxy.no ?? '' } };
}
