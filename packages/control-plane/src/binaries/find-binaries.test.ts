import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cacheFolder, defaultModuleDir, findBinaries, readModule } from './find-binaries.ts';

const wanted = ['etcd', 'kube-apiserver'] as const;
let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'find-binaries-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function place(folder: string, names: readonly string[], mode = 0o755): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const name of names) {
    await writeFile(join(folder, name), '#!/bin/sh\n');
    await chmod(join(folder, name), mode);
  }
  return folder;
}

describe('findBinaries', () => {
  it('prefers KUBEBUILDER_ASSETS to the PATH and the PATH to the cache', async () => {
    const XDG_CACHE_HOME = join(root, 'cache');
    const cache = await place(await cacheFolder({ env: { XDG_CACHE_HOME } }), wanted);
    const path = await place(join(root, 'path'), wanted);
    const assets = await place(join(root, 'assets'), wanted);

    const all = { KUBEBUILDER_ASSETS: assets, PATH: path, XDG_CACHE_HOME };
    expect(await findBinaries(wanted, { env: all })).toEqual({
      source: 'KUBEBUILDER_ASSETS',
      paths: { etcd: join(assets, 'etcd'), 'kube-apiserver': join(assets, 'kube-apiserver') },
    });
    const withoutAssets = await findBinaries(wanted, { env: { PATH: path, XDG_CACHE_HOME } });
    expect(withoutAssets).toMatchObject({ source: 'PATH', paths: { etcd: join(path, 'etcd') } });
    const cacheOnly = await findBinaries(wanted, { env: { PATH: '', XDG_CACHE_HOME } });
    expect(cacheOnly).toMatchObject({ source: 'cache', paths: { etcd: join(cache, 'etcd') } });
  });

  it('finds binaries in different folders of the PATH', async () => {
    const first = await place(join(root, 'a'), ['etcd']);
    const second = await place(join(root, 'b'), ['etcd', 'kube-apiserver']);
    const found = await findBinaries(wanted, { env: { PATH: `${first}:${second}`, XDG_CACHE_HOME: root } });
    expect(found?.paths).toEqual({ etcd: join(first, 'etcd'), 'kube-apiserver': join(second, 'kube-apiserver') });
  });

  it('never mixes an incomplete PATH with the cache', async () => {
    const path = await place(join(root, 'path'), ['etcd']);
    await place(await cacheFolder({ env: { XDG_CACHE_HOME: root } }), ['kube-apiserver']);
    expect(await findBinaries(wanted, { env: { PATH: path, XDG_CACHE_HOME: root } })).toBeUndefined();
  });

  it('skips a file that is not executable', async () => {
    const path = await place(join(root, 'path'), wanted, 0o644);
    expect(await findBinaries(wanted, { env: { PATH: path, XDG_CACHE_HOME: root } })).toBeUndefined();
  });

  it('rejects a KUBEBUILDER_ASSETS that lacks a binary, and names it', async () => {
    const assets = await place(join(root, 'assets'), ['etcd']);
    const path = await place(join(root, 'path'), wanted);
    await expect(findBinaries(wanted, { env: { KUBEBUILDER_ASSETS: assets, PATH: path } })).rejects.toMatchObject({
      code: 'BOWLINE_BINARIES_INCOMPLETE',
      message: expect.stringContaining(`${assets}, which lacks kube-apiserver;`),
    });
  });
});

describe('cacheFolder', () => {
  it('changes with the content of go.sum', async () => {
    const module = async (name: string, sum: string): Promise<string> => {
      const dir = join(root, name);
      await mkdir(dir);
      await writeFile(join(dir, 'go.mod'), 'module x\ngo 1.25.0\nrequire k8s.io/kubernetes v1.35.8\n');
      await writeFile(join(dir, 'go.sum'), sum);
      return dir;
    };
    const env = { XDG_CACHE_HOME: root };
    const a = await cacheFolder({ env, moduleDir: await module('a', 'one') });
    const b = await cacheFolder({ env, moduleDir: await module('b', 'two') });
    const c = await cacheFolder({ env, moduleDir: await module('c', 'one') });
    expect(a).not.toBe(b);
    expect(a).toBe(c);
  });

  it('ignores a relative XDG_CACHE_HOME', async () => {
    const folder = await cacheFolder({ env: { XDG_CACHE_HOME: 'relative', HOME: '/home/somebody' } });
    expect(folder).toMatch(/^\/home\/somebody\/\.cache\/bowline\/control-plane\//);
  });
});

describe('readModule', () => {
  it('reads the versions from the module in the package', async () => {
    expect(await readModule(defaultModuleDir)).toMatchObject({
      kubernetes: expect.stringMatching(/^v1\.\d+\.\d+$/),
      go: expect.stringMatching(/^1\.\d+/),
    });
  });

  it('reports how to fix a missing module', async () => {
    await expect(readModule(join(root, 'absent'))).rejects.toMatchObject({
      code: 'BOWLINE_BINARIES_BUILD',
      message: expect.stringContaining('reinstall @bowline/control-plane'),
    });
  });
});
