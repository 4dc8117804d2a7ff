import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * validate returns the problems that a SPIRE server or agent finds in a configuration, one per line that it prints; none means that
 * it is valid. Unknown keys of plugins are not among them: only starting the program finds those.
 */
export async function validate(program: string, config: string): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'spire-'));
  try {
    const file = join(folder, 'config.json');
    await writeFile(file, config);
    return await problems(program, ['validate', '-config', file]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function problems(program: string, args: readonly string[]): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { env: {} }, (error, stdout, stderr) => {
      // Without an exit code it was not run, or was killed, and found nothing.
      if (error !== null && typeof error.code !== 'number') return reject(error);
      const lines = `${stderr}\n${error === null ? '' : stdout}`.split('\n').filter((line) => line.trim() !== '');
      resolve(error === null ? [] : lines);
    });
  });
}
