import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.ts';

/** Tests, the files that support them, and their data. */
const TEST_FILE = /\.test(?:-support)?\.|(?:^|\/)(?:fixtures|testdata)\//;
/** Sources and files that only a build needs. */
const BUILD_FILE = /\.tsbuildinfo$|(?<!\.d)\.ts$/;

/** misplacedFiles returns the files of a tarball that users of the package have no use for. */
export function misplacedFiles(files: readonly string[]): string[] {
  return files.filter((file) => TEST_FILE.test(file) || BUILD_FILE.test(file));
}

/** packedFiles reports every file that `npm pack` would ship although it belongs to tests or to the build. */
export function packedFiles(): string[] {
  return ['packages', 'operators', 'apps']
    .flatMap((group) => readdirSync(join(repositoryRoot, group)).map((name) => `${group}/${name}`))
    .filter((folder) => isPublished(join(repositoryRoot, folder, 'package.json')))
    .flatMap((folder) => misplacedFiles(filesIn(folder)).map((file) => `${folder} would ship ${file}`));
}

function isPublished(manifest: string): boolean {
  return existsSync(manifest) && !(JSON.parse(readFileSync(manifest, 'utf8')) as { private?: boolean }).private;
}

function filesIn(folder: string): string[] {
  const printed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--silent'], {
    cwd: join(repositoryRoot, folder),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const [packed] = JSON.parse(printed) as readonly { readonly files: readonly { readonly path: string }[] }[];
  if (!packed) throw new Error(`npm pack lists no files for ${folder}`);
  return packed.files.map(({ path }) => path);
}
