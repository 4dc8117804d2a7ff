import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackDebianPackages } from '../debian-packages.ts';

/** ImageTools holds the paths of programs that inspect, unpack and run images without a container engine. */
export interface ImageTools {
  readonly skopeo: string;
  readonly umoci: string;
  readonly bubblewrap: string;
  /** The folder of the libraries that they need. */
  readonly libraryPath: string;
}

const PACKAGES = ['skopeo', 'umoci', 'bubblewrap', 'libgpgme11', 'libdevmapper1.02.1'];

/** ensureImageTools unpacks Debian's packages once into the cache outside the work tree, which needs no privileges. */
export async function ensureImageTools(
  log: (line: string) => void = console.error,
): Promise<ImageTools | { readonly skippedBecause: string }> {
  const title = 'skopeo, umoci and bubblewrap';
  const unpacked = await unpackDebianPackages({ name: 'image-tools', title, packages: PACKAGES, log });
  if ('skippedBecause' in unpacked) return unpacked;
  const bin = (name: string): string => join(unpacked.folder, 'usr/bin', name);
  const lib = join(unpacked.folder, 'usr/lib');
  const machine = (await readdir(lib)).find((entry) => entry.endsWith('-linux-gnu'));
  const tools = {
    skopeo: bin('skopeo'),
    umoci: bin('umoci'),
    bubblewrap: bin('bwrap'),
    libraryPath: join(lib, machine ?? ''),
  };
  const isComplete = [tools.skopeo, tools.umoci, tools.bubblewrap].every((path) => existsSync(path));
  return isComplete ? tools : { skippedBecause: `no ${title}: ${unpacked.folder} is incomplete; remove it` };
}
