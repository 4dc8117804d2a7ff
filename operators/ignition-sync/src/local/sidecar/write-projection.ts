import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** ProjectedFile is a file of a volume that a kubelet fills. */
export interface ProjectedFile {
  readonly path: string;
  readonly content: string | Buffer;
  readonly mode: number;
}

/**
 * writeProjection makes a folder contain exactly these files. Each file is replaced at once, so that a reader gets the old
 * or the new content.
 */
export async function writeProjection(folder: string, files: readonly ProjectedFile[]): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const { path, content, mode } of files) {
    const target = join(folder, path);
    const temporary = `${target}.new`;
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    // The mode of an existing file would stay, and a file without write permission cannot be written again.
    await rm(temporary, { force: true });
    await writeFile(temporary, content, { mode: 0o600 });
    await chmod(temporary, mode);
    await rename(temporary, target);
  }
  const wanted = new Set(files.map(({ path }) => path));
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
    if (entry.isFile() && !wanted.has(path)) await rm(join(folder, path), { force: true });
  }
}
