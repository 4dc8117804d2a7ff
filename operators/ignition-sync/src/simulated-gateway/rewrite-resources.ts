import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '@bowline/machinery';
import type { LoadedFolder } from './load-folder.ts';

/** CACHE is the folder of the gateway itself in its data folder. */
export const CACHE = '.resources';

/** RewriteOptions configures what a gateway writes into a resource.json. */
export interface RewriteOptions {
  /** What was loaded before. Its resources are not rewritten unless their content changed. */
  readonly before: LoadedFolder;
  /** Wall time in milliseconds since the epoch. */
  readonly now: number;
}

/**
 * rewriteResources rewrites the attributes lastModification and lastModificationSignature of every resource.json whose
 * resource changed since the last load, as a gateway does. It returns how many it rewrote.
 */
export async function rewriteResources(
  dataFolder: string,
  loaded: LoadedFolder,
  { before, now }: RewriteOptions,
): Promise<number> {
  let count = 0;
  for (const [path, signature] of loaded.resources) {
    if (before.resources.get(path) === signature) continue;
    const attributes = {
      lastModification: { actor: 'external', timestamp: new Date(now).toISOString() },
      lastModificationSignature: signature,
    };
    if (await rewrite(dataFolder, path, attributes)) count++;
  }
  return count;
}

async function rewrite(dataFolder: string, resource: string, changes: object): Promise<boolean> {
  const path = join(dataFolder, resource, 'resource.json');
  const text = await readText(path);
  if (text === undefined) return false;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  if (!isObject(value)) return false;
  const attributes = { ...(isObject(value.attributes) ? value.attributes : {}), ...changes };
  const cache = join(dataFolder, CACHE);
  await mkdir(cache, { recursive: true });
  // Projects and config are scanned at the same time.
  const complete = join(cache, `${resource.split('/', 1)[0]}.new`);
  await writeFile(complete, `${JSON.stringify({ ...value, attributes }, null, 2)}\n`);
  // A file that was placed meanwhile is newer than what was loaded; the next scan loads it.
  if ((await readText(path)) !== text) return false;
  await rename(complete, path);
  return true;
}

async function readText(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch(() => undefined);
}
