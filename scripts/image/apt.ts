import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../../bench/support/run-program.ts';
import { findProgram } from '../../packages/control-plane/src/binaries/find-binaries.ts';
import { imageCache } from './image-cache.ts';
import { ImageError } from './image-error.ts';

/** PackageRecord holds the fields of a package in Debian's lists. */
export type PackageRecord = ReadonlyMap<string, string>;

/** Apt reads and downloads packages of one architecture. */
export interface Apt extends AsyncDisposable {
  /** show returns the records of the versions that would be installed. */
  show(names: readonly string[]): Promise<readonly PackageRecord[]>;
  /** download writes packages, given as `name=version`, to a folder. */
  download(packages: readonly string[], folder: string): Promise<void>;
}

/**
 * openApt updates lists of its own: those of the system may be missing, only root may update them, and they are limited to the
 * architectures of the system. The sources are those of the system.
 */
export async function openApt(architecture: string): Promise<Apt> {
  for (const program of ['apt-get', 'apt-cache', 'dpkg-deb']) {
    if ((await findProgram(program, process.env)) === undefined) {
      throw new ImageError(
        `${program} is not on the PATH: build the image on Debian 12 (bookworm), or with "docker build --file deploy/Dockerfile ."`,
      );
    }
  }
  const work = await mkdtemp(join(await imageCache(), 'apt-'));
  for (const path of ['lists/partial', 'cache/archives/partial']) await mkdir(join(work, path), { recursive: true });
  // An empty list of installed packages.
  await writeFile(join(work, 'status'), '');
  const options = Object.entries({
    'APT::Architecture': architecture,
    'APT::Architectures::': architecture,
    // As root, apt downloads as a user that cannot open this folder.
    'APT::Sandbox::User': 'root',
    'Debug::NoLocking': '1',
    'Dir::Cache': join(work, 'cache'),
    'Dir::State::lists': join(work, 'lists'),
    'Dir::State::status': join(work, 'status'),
  }).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const run = (program: string, args: readonly string[], cwd: string): Promise<string> =>
    runProgram(program, [...options, ...args], { cwd, env: { ...process.env, LC_ALL: 'C' } });
  const close = (): Promise<void> => rm(work, { recursive: true, force: true });
  try {
    await run('apt-get', ['--quiet', 'update'], work);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async show(names) {
      return parseRecords(await run('apt-cache', ['show', '--no-all-versions', ...names], work));
    },
    async download(packages, folder) {
      await run('apt-get', ['--quiet', 'download', ...packages], folder);
    },
    [Symbol.asyncDispose]: close,
  };
}

/** parseRecords parses paragraphs of `Name: value` lines; continuation lines are indented. */
export function parseRecords(text: string): readonly PackageRecord[] {
  const paragraphs = text.split(/\n\s*\n/).filter((each) => each.trim() !== '');
  return paragraphs.map((paragraph) => {
    const fields = paragraph
      .trim()
      .replace(/\n[ \t]+/g, ' ')
      .split('\n');
    return new Map(fields.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]));
  });
}
