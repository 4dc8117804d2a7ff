import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** TestFolder is a temporary folder that is removed after the test. */
export interface TestFolder extends AsyncDisposable {
  readonly path: string;
  /** write creates a file in the folder and returns its path. */
  write(name: string, text: string, mode?: number): Promise<string>;
}

export async function testFolder(): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), 'bowline-'));
  return {
    path,
    async write(name, text, mode = 0o600) {
      const file = join(path, name);
      await writeFile(file, text, { mode });
      return file;
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
