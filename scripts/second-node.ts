import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** secondNodeVersion is the current LTS, tested in addition to the oldest supported Node, and the Node of the images. */
export const secondNodeVersion = '24.21.0';

/**
 * secondNode returns the path of the second supported Node version, taken from its npm package and cached outside the
 * work tree.
 */
export function secondNode(): { version: string; program: string } {
  const version = secondNodeVersion;
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'bowline', 'node');
  const folder = join(cache, version);
  const program = join(folder, 'package/bin/node');
  if (!existsSync(program)) {
    mkdirSync(cache, { recursive: true });
    const scratch = mkdtempSync(join(cache, 'unpack-'));
    try {
      execFileSync('npm', ['pack', '--silent', `node-linux-${process.arch}@${version}`, '--pack-destination', scratch]);
      execFileSync('tar', ['-xzf', `node-linux-${process.arch}-${version}.tgz`], { cwd: scratch });
      renameSync(scratch, folder);
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  return { version, program };
}
