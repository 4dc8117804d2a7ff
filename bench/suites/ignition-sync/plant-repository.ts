import { spawn } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { cleanGitEnvironment } from '../../../test/support/git/git-program.ts';
import type { GitServer } from '../../../test/support/git/git-server.ts';
import type { RepositorySize } from './plan.ts';

/** SERVICES is the number of equal services on the branch `services`. */
export const SERVICES = 5;
const PROJECTS = 10;
const LINE_LENGTH = 68;
const KINDS = ['view.json', 'code.py', 'tags.json', 'image.png'] as const;
const RESOURCE = JSON.stringify({ scope: 'G', version: 1, files: ['data'], attributes: { lastModification: {} } });

/** PlantRepository is a repository of projects on the Git server. */
export interface PlantRepository {
  readonly url: string;
  /** The commit of `main`, whose root has all projects. */
  readonly main: string;
  /** The commit of `services`, in which the same projects belong to equal services. */
  readonly services: string;
  /** The path of a large file of `main`, by its number. */
  fileAt(index: number): string;
  /** commit adds a commit to `main`, and returns its hash. */
  commit(files: Readonly<Record<string, string>>): Promise<string>;
}

/**
 * createPlant creates a repository like that of a plant: half of its files are small `resource.json` files, the others have all
 * the bytes. Half of these are JSON, a quarter are scripts and a quarter are images. No two files are equal, and text compresses to
 * about three quarters.
 */
export async function createPlant(git: GitServer, name: string, size: RepositorySize): Promise<PlantRepository> {
  const repository = await git.repositories.create(name);
  // A fast level, because clients of all kinds only decompress.
  const args = ['-c', 'core.compression=1', 'fast-import', '--quiet', '--force', '--depth=0'];
  const child = spawn('git', args, {
    cwd: repository.folder,
    env: cleanGitEnvironment(repository.folder),
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  await writeImport(child.stdin, size);
  const [code] = await ended;
  if (code !== 0) throw new Error(`git fast-import exited with ${code}`);
  const hash = (ref: string): Promise<string> => repository.git('rev-parse', `refs/heads/${ref}`);
  return {
    url: `${git.url}/${name}`,
    main: await hash('main'),
    services: await hash('services'),
    fileAt: (index) => pathOf(2 * index + 1),
    commit: (files) => repository.commit(files),
  };
}

/** A path below the root of `main`: pairs of a resource.json and its data, and a project.json in each project. */
function pathOf(index: number): string {
  const pair = Math.floor(index / 2);
  const project = `projects/line-${pair % PROJECTS}`;
  const number = Math.floor(pair / PROJECTS);
  if (index % 2 === 0 && number === 0) return `${project}/project.json`;
  const folder = `${project}/views/resource-${String(number).padStart(4, '0')}`;
  return `${folder}/${index % 2 === 0 ? 'resource.json' : KINDS[number % KINDS.length]}`;
}

async function writeImport(input: Writable, { files, megabytes }: RepositorySize): Promise<void> {
  const bytes = noise();
  const size = Math.floor((megabytes * 1e6) / Math.floor(files / 2));
  const write = async (chunk: string | Buffer): Promise<void> => {
    if (!input.write(chunk)) await once(input, 'drain');
  };
  for (let index = 0; index < files; index += 1) {
    const content = contentOf(pathOf(index), index, size, bytes);
    await write(`blob\nmark :${index + 1}\ndata ${content.length}\n`);
    await write(content);
    await write('\n');
  }
  for (const [branch, place] of [
    ['main', (path: string) => path],
    ['services', ofService],
  ] as const) {
    await write(`commit refs/heads/${branch}\ncommitter bench <bench@example.test> 1767225600 +0000\ndata 5\nplant\n`);
    for (let index = 0; index < files; index += 1) await write(`M 100644 :${index + 1} ${place(pathOf(index))}\n`);
  }
  input.end();
}

function ofService(path: string): string {
  const project = Number(/line-(\d+)/.exec(path)?.[1]);
  return `services/service-${project % SERVICES}/${path}`;
}

function contentOf(path: string, index: number, size: number, bytes: (count: number) => Buffer): Buffer {
  if (path.endsWith('/project.json')) return Buffer.from(JSON.stringify({ title: path, enabled: true }));
  if (path.endsWith('/resource.json')) return Buffer.from(RESOURCE.replace('"G"', `"G${index}"`));
  if (path.endsWith('.png')) return bytes(size);
  // 48 bytes are a line of 64 characters.
  const text = bytes(Math.floor(size / LINE_LENGTH) * 48).toString('base64');
  if (path.endsWith('.py')) return Buffer.from(text.replace(/.{64}/g, '# $&\n'));
  return Buffer.from(`{"items": [\n${text.replace(/.{64}/g, '"$&",\n')}""]}`);
}

/** noise returns bytes that are the same in every run, and do not compress. */
function noise(): (count: number) => Buffer {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 7), Buffer.alloc(16));
  return (count) => cipher.update(Buffer.alloc(count));
}
