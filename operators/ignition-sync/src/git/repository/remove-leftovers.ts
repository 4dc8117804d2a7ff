import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Where git creates lock and temporary files, relative to the repository. */
const FOLDERS = ['', 'objects/pack', 'objects', 'refs/ignition-sync', 'refs/ignition-sync-tags'];
const LEFTOVER = /\.lock$|^tmp_|^\.tmp-/;

/**
 * removeLeftovers deletes the files of a git process that was killed: locks would make every later fetch fail, and partial packs
 * would fill the disk. Call it only while no other process writes to the repository.
 */
export async function removeLeftovers(gitDir: string): Promise<void> {
  for (const folder of FOLDERS) {
    const names = await readdir(join(gitDir, folder)).catch(() => []);
    for (const name of names.filter((each) => LEFTOVER.test(each))) {
      await rm(join(gitDir, folder, name), { recursive: true, force: true });
    }
  }
}
