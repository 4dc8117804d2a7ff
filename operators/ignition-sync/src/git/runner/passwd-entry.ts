import { access, readdir, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';

/** PasswdEntry makes sure that the user of this process has an entry in the passwd database, which OpenSSH requires. */
export interface PasswdEntry {
  /** The variables for programs that need the entry; empty if the user has one. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether the entry is missing and cannot be provided. */
  readonly isMissing: boolean;
}

const NAMES = ['libnss_wrapper.so', 'libnss_wrapper.so.0'];

/**
 * passwdEntry checks for an entry and, without one, generates a database for nss_wrapper, a library that is loaded before libc's
 * functions. Pods often run with a user id that no image knows.
 */
export async function passwdEntry(options: {
  readonly folder: string;
  readonly library: string | undefined;
}): Promise<PasswdEntry> {
  if (process.getuid === undefined || process.getgid === undefined || hasEntry()) return { env: {}, isMissing: false };
  const library = options.library ?? (await findNssWrapper());
  if (library === undefined) return { env: {}, isMissing: true };
  const passwd = join(options.folder, 'passwd');
  const group = join(options.folder, 'group');
  const [uid, gid] = [process.getuid(), process.getgid()];
  await writeFile(passwd, `bowline:x:${uid}:${gid}:bowline:${options.folder}:/bin/false\n`);
  await writeFile(group, `bowline:x:${gid}:\n`);
  return { env: { LD_PRELOAD: library, NSS_WRAPPER_PASSWD: passwd, NSS_WRAPPER_GROUP: group }, isMissing: false };
}

function hasEntry(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

/** findNssWrapper returns the path of the system's nss_wrapper, if it is installed. */
export async function findNssWrapper(): Promise<string | undefined> {
  const machines = (await readdir('/usr/lib').catch(() => [])).filter((name) => name.includes('-linux-'));
  const folders = [...machines.map((name) => join('/usr/lib', name)), '/usr/lib64', '/usr/lib'];
  for (const path of folders.flatMap((folder) => NAMES.map((name) => join(folder, name)))) {
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}
