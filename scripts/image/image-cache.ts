import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** imageCache returns a folder for downloads and layers, outside the work tree, and creates it. */
export async function imageCache(...names: readonly string[]): Promise<string> {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'bowline', 'image', ...names);
  await mkdir(folder, { recursive: true });
  return folder;
}
