import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildBinaries, ensureBinaries, linkerFlags } from './build-binaries.ts';
import { allBinaries, cacheFolder } from './find-binaries.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'build-binaries-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** fakeGo creates a `go` that prints its version and, for a build, runs the given shell lines with $out as the output file. */
async function fakeGo(build: string, version = 'go1.26.8'): Promise<Record<string, string>> {
  const bin = join(root, 'bin');
  await mkdir(bin, { recursive: true });
  await writeFile(
    join(bin, 'go'),
    `#!/bin/sh
PATH=/usr/bin:/bin
case "$1" in
  env) echo ${version};;
  build) echo "$@" >> ${root}/calls; echo "$GOTOOLCHAIN $CGO_ENABLED $GOFLAGS $GOWORK" >> ${root}/env
    while [ "$1" != -o ]; do shift; done; out=$2
    ${build};;
esac
`,
  );
  await chmod(join(bin, 'go'), 0o755);
  return { PATH: bin, XDG_CACHE_HOME: join(root, 'cache') };
}

const succeed = 'echo built > $out; chmod 755 $out';

describe('buildBinaries', () => {
  it('builds every binary once, with one line of progress each', async () => {
    const env = await fakeGo(succeed);
    const lines: string[] = [];
    const folder = await buildBinaries({ env, onProgress: (line) => lines.push(line) });
    expect((await readdir(folder)).sort()).toEqual([...allBinaries].sort());
    for (const [index, name] of allBinaries.entries()) {
      expect(lines[index + 1]).toMatch(new RegExp(`^\\[ ?\\d+:\\d\\d\\] building ${name} \\(${index + 1} of 5\\)$`));
    }
    expect(new Set((await readFile(join(root, 'env'), 'utf8')).trim().split('\n'))).toEqual(
      new Set(['local 0 -mod=readonly off']),
    );
    expect(await buildBinaries({ env })).toBe(folder);
    expect((await readFile(join(root, 'calls'), 'utf8')).trim().split('\n')).toHaveLength(allBinaries.length);
  });

  it('builds once for concurrent callers', async () => {
    const env = await fakeGo(succeed);
    const found = await Promise.all([ensureBinaries(['etcd'], { env }), ensureBinaries(['kubectl'], { env })]);
    expect(found.map(({ source }) => source)).toEqual(['cache', 'cache']);
    expect((await readFile(join(root, 'calls'), 'utf8')).trim().split('\n')).toHaveLength(allBinaries.length);
  });

  it('reports the compiler output when a build fails, and leaves no partial result', async () => {
    const env = await fakeGo('echo "no required module provides package" >&2; exit 1');
    const folder = await cacheFolder({ env });
    await expect(buildBinaries({ env })).rejects.toMatchObject({
      code: 'BOWLINE_BINARIES_BUILD',
      message: expect.stringMatching(/go build … go\.etcd\.io\/etcd(.|\n)*no required module provides package/),
    });
    expect(await readdir(dirname(folder))).toEqual([]);
  });

  it('removes the leftovers of an interrupted build', async () => {
    const env = await fakeGo(succeed);
    const folder = await cacheFolder({ env });
    await mkdir(`${folder}.build-dead`, { recursive: true });
    await buildBinaries({ env });
    expect(await readdir(dirname(folder))).toHaveLength(1);
  });

  it('stops when aborted', async () => {
    const env = await fakeGo('exec tail -f /dev/null');
    const abort = new AbortController();
    const building = buildBinaries({
      env,
      signal: abort.signal,
      onProgress: (line) => {
        if (line.includes('building etcd')) queueMicrotask(() => abort.abort(new Error('enough')));
      },
    });
    await expect(building).rejects.toThrow('enough');
  });

  it('lists every way to get binaries, and what is skipped, when Go is missing', async () => {
    const env = { PATH: '', XDG_CACHE_HOME: root };
    const failure = await ensureBinaries(['etcd'], { env }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'BOWLINE_BINARIES_MISSING' });
    const { message } = failure as Error;
    for (const part of ['KUBEBUILDER_ASSETS', 'PATH', 'install Go 1.25', 'control-plane build', 'are skipped']) {
      expect(message).toContain(part);
    }
  });

  it('rejects a Go version that is too old for the module', async () => {
    const env = await fakeGo(succeed, 'go1.22.0');
    await expect(buildBinaries({ env })).rejects.toMatchObject({
      code: 'BOWLINE_BINARIES_MISSING',
      message: expect.stringContaining('is go1.22.0, too old'),
    });
  });
});

describe('linkerFlags', () => {
  it('sets the version of Kubernetes', () => {
    const flags = linkerFlags('kube-apiserver', { kubernetes: 'v1.35.8' });
    expect(flags).toContain('-X k8s.io/component-base/version.gitVersion=v1.35.8');
    expect(flags).toContain('-X k8s.io/client-go/pkg/version.gitMinor=35');
    expect(linkerFlags('etcd', { kubernetes: 'v1.35.8' })).toBe('-s -w');
  });
});
