import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@bowline/machinery';
import { expect, it } from 'vitest';
import {
  type ContractStore,
  providerContract,
} from '../../../../../operators/jasm/src/providers/contract.test-support.ts';
import { FilesProvider } from './files-provider.ts';
import { files } from './kind.ts';

providerContract('files', {
  setup,
  // A file answers at once, or not at all.
  lacks: ['denial', 'failure', 'hanging'],
  invalidPaths: ['', '..', '../passwords', 'a/b', 'a b', 'a'.repeat(101)],
  names: (path) => files.names(path, { folder: 'anywhere' }),
});

it('rejects a version, a region or a role', async () => {
  await using store = await setup();
  const ref = { ...store.ref('first'), versionId: '1' };
  await expect(store.provider.fetchSecret(ref, AbortSignal.timeout(1_000))).rejects.toMatchObject({ kind: 'refused' });
});

async function setup(): Promise<ContractStore> {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-files-'));
  const observed: string[] = [];
  const provider = new FilesProvider({
    config: { folder },
    clock: systemClock,
    observe: ({ operation, code }) => observed.push(`${operation} ${code}`),
  });
  const put = (path: string, fields: object): Promise<void> => writeFile(join(folder, path), JSON.stringify(fields));
  return {
    provider,
    observed,
    credentials: [],
    ref: (word) => ({ path: word, namespace: 'shop' }),
    put: ({ path }, fields) => put(path, fields),
    putEmpty: ({ path }) => put(path, {}),
    remove: ({ path }) => rm(join(folder, path)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
