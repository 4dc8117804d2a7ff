import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../../../scripts/bundle.mjs';

/** OperatorProgram is operator-child.ts as a bundled program, until it is disposed. */
export interface OperatorProgram extends AsyncDisposable {
  readonly main: string;
}

/**
 * bundleOperators builds the program: it is started several times per case, and from sources would spend most of a case compiling
 * them.
 */
export async function bundleOperators(): Promise<OperatorProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-crash-'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const dist = join(folder, 'dist');
  await mkdir(dist);
  return {
    main: await bundle({ entry: 'test/proofs/crash/operator-child.ts', folder: dist }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
