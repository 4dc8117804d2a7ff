import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilAborted } from '@bowline/machinery';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { defineOperator, type SetupContext } from '../operator/operator.ts';
import type { ScratchFolder } from '../operator/scratch-folder.ts';
import { MemoryApiServer } from '../testing/memory-api-server.ts';
import { Manager } from './manager.ts';

/** runOnce runs an operator until its setup has ended. */
async function runOnce(
  setUp: (context: SetupContext<undefined>) => Promise<void>,
  options: { readonly scratchFolder?: string; readonly declared?: ScratchFolder<undefined> | undefined },
): Promise<void> {
  const stop = new AbortController();
  const operator = defineOperator({
    name: 'git',
    domain: 'bowline.dev',
    scratchFolder: options.declared,
    setup: async (context) => {
      await setUp(context);
      stop.abort();
    },
    services: [{ name: 'idle', run: (signal) => untilAborted(signal) }],
  });
  const manager = new Manager({
    operators: [operator],
    clientFor: () => createClient({ transport: new MemoryApiServer().transport('git') }),
    leaderElection: false,
    healthAddress: '0',
    metricsAddress: '0',
    scratchFolder: options.scratchFolder,
  });
  await manager.run(stop.signal);
}

describe('a scratch folder', () => {
  const declared = { sizeLimit: '1Mi' };

  it('is a temporary folder that is gone when the manager has stopped', async () => {
    let path = '';
    await runOnce(
      async ({ scratchFolder }) => {
        path = scratchFolder();
        await writeFile(join(path, 'clone'), 'x');
      },
      { declared },
    );
    expect(path).not.toBe('');
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('stays if the manager was given a folder for it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bowline-scratch-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const setUp = ({ scratchFolder }: SetupContext<undefined>) => writeFile(join(scratchFolder(), 'clone'), 'x');
    await runOnce(setUp, { declared, scratchFolder: folder });
    expect(await readdir(join(folder, 'git'))).toEqual(['clone']);
  });

  it('must be declared', async () => {
    const setUp = async ({ scratchFolder }: SetupContext<undefined>) => void scratchFolder();
    await expect(runOnce(setUp, {})).rejects.toThrow(/git has no scratch folder: declare scratchFolder/);
  });
});
