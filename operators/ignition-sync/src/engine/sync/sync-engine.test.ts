import { createHash } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TestFolder } from './engine.test-support.ts';
import type { SyncStep } from './sync-request.ts';

const resource = (attributes: object): string => JSON.stringify({ scope: 'A', attributes });

describe('a sync', () => {
  it('places, changes and deletes files, and is steady afterwards', async () => {
    await using folder = new TestFolder();
    const { engine } = folder;
    const first = await engine.sync(
      folder.request({ 'projects/a/x': '1', 'projects/b/y': { content: '2', mode: '100755' } }),
    );
    expect(first).toMatchObject({ isLoaded: false, projects: ['a', 'b'] });
    expect(statSync(join(folder.path, 'projects/b/y')).mode & 0o777).toBe(0o755);
    await engine.markLoaded();
    const request = folder.request({ 'projects/a/x': 'changed', 'projects/c/z': '3' });
    const second = await engine.sync(request);
    expect(second.changes).toEqual([
      { path: 'projects/a/x', action: 'modify' },
      { path: 'projects/b/y', action: 'delete' },
      { path: 'projects/c/z', action: 'add' },
    ]);
    expect(second.isLoaded).toBe(false);
    expect(folder.files()).toEqual({ 'projects/a/x': 'changed', 'projects/c/z': '3' });
    expect(existsSync(join(folder.path, 'projects/b'))).toBe(false);
    await engine.markLoaded();
    folder.repository.opened.length = 0;
    expect(await engine.sync(request)).toMatchObject({ changes: [], isLoaded: true });
    expect(folder.repository.opened).toEqual([]);
  });

  it('never changes a file in place: a reader of the old file keeps its content', async () => {
    await using folder = new TestFolder();
    await folder.engine.sync(folder.request({ 'projects/a/x': 'old' }));
    linkSync(join(folder.path, 'projects/a/x'), join(folder.path, 'reader'));
    await folder.engine.sync(folder.request({ 'projects/a/x': 'new' }));
    expect(readFileSync(join(folder.path, 'reader'), 'utf8')).toBe('old');
  });

  it('of a root-level file keeps the other files of the gateway, and nested roots are pruned', async () => {
    await using folder = new TestFolder();
    folder.write('db/config.idb', 'gateway');
    folder.write('config/resources/core/own.json', 'gateway');
    const files = {
      'ignition.conf': 'x',
      'config/resources/core/a.json': '{}',
      'config/resources/core/deep/b.json': '{}',
    };
    await folder.engine.sync(folder.request(files));
    const { 'config/resources/core/deep/b.json': _, ...fewer } = files;
    const mappings = [
      { source: 'ignition.conf', destination: 'ignition.conf' },
      { source: 'config/resources/core', destination: 'config/resources/core' },
      { source: 'config/resources/core/deep', destination: 'config/resources/core/deep' },
    ];
    await folder.engine.sync(folder.request(fewer, { mappings, prune: 'All' }));
    expect(folder.files()).toEqual({ 'db/config.idb': 'gateway', ...fewer });
    expect(folder.replaced()).toEqual({ 'config/resources/core/own.json': 'gateway' });
  });

  it('backs up what was changed or created on the gateway, and adopts what is already there', async () => {
    await using folder = new TestFolder();
    for (const name of ['same', 'other']) folder.write(`projects/a/${name}`, name);
    const files = {
      'projects/a/same': 'same',
      'projects/a/other': 'git',
      'projects/a/edited': '1',
      'projects/a/gone': '1',
    };
    const first = await folder.engine.sync(folder.request(files));
    expect(first.changes.map(({ path }) => path)).toEqual(['projects/a/edited', 'projects/a/gone', 'projects/a/other']);
    folder.write('projects/a/edited', 'on the gateway');
    folder.write('projects/a/gone', 'also');
    const second = await folder.engine.sync(folder.request({ 'projects/a/same': 'new', 'projects/a/edited': '1' }));
    expect(second.backups).toEqual({ kept: 2, notKept: 0 });
    expect(folder.replaced()).toEqual({
      'projects/a/other': 'other',
      'projects/a/edited': 'on the gateway',
      'projects/a/gone': 'also',
    });
  });

  it('backs up a file that the gateway writes in the moment before it is replaced', async () => {
    const folder: TestFolder = new TestFolder({
      hooks: { onStep: (step, path) => void (step === 'place' && path === 'a' && folder.write('a', 'just now')) },
    });
    await using _ = folder;
    folder.write('a', 'before');
    await folder.engine.sync(folder.request({ a: '1' }));
    const kept = Object.entries(folder.files('.ignition-sync/replaced')).map(([, content]) => content);
    expect(kept).toContain('just now');
  });

  it('reads a file again whose time is not older than the last check', async () => {
    await using folder = new TestFolder();
    const write = (content: string): void => {
      folder.write('a', content);
      utimesSync(join(folder.path, 'a'), 4e9, 4e9);
    };
    write('one');
    const request = folder.request({ a: 'one' });
    expect(await folder.engine.sync(request)).toMatchObject({ changes: [] });
    // In place, with the same size and time.
    write('two');
    expect(await folder.engine.drift()).toEqual([{ path: 'a', change: 'modified' }]);
    expect(await folder.engine.sync(request)).toMatchObject({ changes: [{ path: 'a', action: 'modify' }] });
  });

  it('leaves a resource.json that the gateway has rewritten, and finds other drift', async () => {
    await using folder = new TestFolder();
    const files = {
      'projects/a/v/resource.json': resource({ lastModification: 'git' }),
      'projects/a/v/x': '1',
      'projects/a/v/y': '1',
    };
    await folder.engine.sync(folder.request(files));
    folder.write(
      'projects/a/v/resource.json',
      resource({ lastModification: 'gateway', lastModificationSignature: 's' }),
    );
    expect(await folder.engine.drift()).toEqual([]);
    expect(await folder.engine.sync(folder.request(files))).toMatchObject({ changes: [] });
    folder.write('projects/a/v/x', '2');
    rmSync(join(folder.path, 'projects/a/v/y'));
    expect(await folder.engine.drift()).toEqual([
      { path: 'projects/a/v/x', change: 'modified' },
      { path: 'projects/a/v/y', change: 'deleted' },
    ]);
  });

  it('leaves excluded and held files, and the folders of the gateway, whatever prune is', async () => {
    await using folder = new TestFolder();
    const files = { 'projects/a/x': '1', 'projects/a/held': '1', 'projects/a/excluded': '1' };
    await folder.engine.sync(folder.request(files));
    folder.write('projects/a/held', 'gateway');
    folder.write('projects/a/.resources/cache', 'gateway');
    const options = { prune: 'All', held: new Set(['projects/a/held']), excludePatterns: ['**/excluded'] } as const;
    const { changes } = await folder.engine.sync(folder.request({ ...files, 'projects/a/held': '2' }, options));
    expect(changes).toEqual([]);
    expect(folder.files()).toEqual({
      ...files,
      'projects/a/held': 'gateway',
      'projects/a/.resources/cache': 'gateway',
    });
  });

  it('replaces a file by a folder and a folder by a file', async () => {
    await using folder = new TestFolder();
    await folder.engine.sync(folder.request({ 'projects/a': 'file', 'projects/b/c': 'below' }));
    await folder.engine.sync(folder.request({ 'projects/a/c': 'below', 'projects/b': 'file' }));
    expect(folder.files()).toEqual({ 'projects/a/c': 'below', 'projects/b': 'file' });
    folder.write('projects/a/own', 'gateway');
    await expect(folder.engine.sync(folder.request({ 'projects/a': 'file' }))).rejects.toMatchObject({
      reason: 'UnsafeTarget',
    });
  });

  it('places resource.json last in its folder and project.json last in its project, and deletes them first', async () => {
    const steps: string[] = [];
    const onStep = (step: SyncStep, path = ''): unknown =>
      (step === 'place' || step === 'delete') && steps.push(`${step} ${path}`);
    await using folder = new TestFolder({ hooks: { onStep } });
    const names = [
      'projects/a/project.json',
      'projects/a/v/resource.json',
      'projects/a/v/view.json',
      'projects/a/z.txt',
    ];
    await folder.engine.sync(folder.request(Object.fromEntries(names.map((name) => [name, '{}']))));
    await folder.engine.sync(folder.request({ 'projects/b': '1' }));
    expect(steps.filter((step) => step.startsWith('place projects/a'))).toEqual([
      'place projects/a/z.txt',
      'place projects/a/v/view.json',
      'place projects/a/v/resource.json',
      'place projects/a/project.json',
    ]);
    expect(steps.filter((step) => step.startsWith('delete')).slice(0, 4)).toEqual([
      'delete projects/a/project.json',
      'delete projects/a/z.txt',
      'delete projects/a/v/resource.json',
      'delete projects/a/v/view.json',
    ]);
  });

  it('runs one at a time: two loops on one folder never share its staging', async () => {
    await using folder = new TestFolder();
    const requests = ['1', '2', '3'].map((content) => folder.request({ 'projects/a': content }));
    await Promise.all(requests.map((request) => folder.engine.sync(request)));
    expect(folder.files()).toEqual({ 'projects/a': '3' });
  });
});

describe('a sync is refused and changes no live file', () => {
  it.each([
    ['ConfigSyntaxError', { 'projects/a/x.json': '{\n"a": }' }, /^projects\/a\/x\.json: .*line 2, column 6/],
    [
      'LfsPointer',
      { 'projects/a/x': `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 5\n` },
      /pointer/,
    ],
  ])('%s', async (reason, files, message) => {
    await using folder = new TestFolder();
    await folder.engine.sync(folder.request({ 'projects/a/keep': '1' }));
    const refused = folder.engine.sync(folder.request({ 'projects/a/first': '1', ...files }));
    await expect(refused).rejects.toMatchObject({
      reason,
      message: expect.stringMatching(message),
      remedy: expect.anything(),
    });
    expect(folder.files()).toEqual({ 'projects/a/keep': '1' });
    expect(readdirSync(join(folder.path, '.ignition-sync/staging'))).toEqual([]);
  });

  it('for a link in the data folder, at the path or above it', async () => {
    await using outside = new TestFolder();
    for (const linked of ['projects', 'projects/a', 'projects/a/x']) {
      await using folder = new TestFolder();
      mkdirSync(join(folder.path, linked, '..'), { recursive: true });
      symlinkSync(outside.path, join(folder.path, linked));
      const refused = folder.engine.sync(folder.request({ 'projects/a/x': '1' }));
      await expect(refused).rejects.toMatchObject({ reason: 'UnsafeTarget', path: 'projects/a/x' });
    }
    expect(readdirSync(outside.path)).toEqual([]);
  });

  it('when the folder of the agent is a link', async () => {
    await using outside = new TestFolder();
    await using folder = new TestFolder();
    symlinkSync(outside.path, join(folder.path, '.ignition-sync'));
    await expect(folder.engine.recover()).rejects.toMatchObject({ reason: 'UnsafeTarget' });
  });

  it('when the disk has too little space, and when a policy stops it', async () => {
    const freeBytes = async (): Promise<number> => 64 * 1024 * 1024;
    await using folder = new TestFolder({ freeBytes });
    await expect(folder.engine.sync(folder.request({ a: '1' }))).rejects.toMatchObject({
      reason: 'DiskFull',
      retryable: true,
    });
    const beforeStage = (): Promise<void> => Promise.reject(new Error('a designer is open'));
    await using other = new TestFolder({ hooks: { beforeStage } });
    await expect(other.engine.sync(other.request({ a: '1' }))).rejects.toThrow('a designer is open');
    expect({ ...folder.files(), ...other.files() }).toEqual({});
  });

  it('when a field exists in no config.json, and not when it exists in one of them', async () => {
    await using folder = new TestFolder();
    const files = { 'config/a/config.json': '{"port":1}', 'config/b/config.json': '{}' };
    const fields = (jsonPath: string) => ({ fields: [{ jsonPath, valueTemplate: '2' }] });
    await expect(folder.engine.sync(folder.request(files, fields('.host')))).rejects.toMatchObject({
      reason: 'TemplateFailed',
    });
    await folder.engine.sync(folder.request(files, fields('.port')));
    expect(folder.files()).toEqual({ ...files, 'config/a/config.json': '{"port":2}' });
    await expect(folder.engine.sync(folder.request(files, fields('.host')))).rejects.toMatchObject({
      reason: 'TemplateFailed',
    });
    const fewer = { 'config/b/config.json': '{}' };
    const request = folder.request(fewer, { ...fields('.port'), prune: 'None' });
    await expect(folder.engine.sync(request)).rejects.toMatchObject({ reason: 'TemplateFailed' });
    await expect(folder.engine.sync({ ...request, tree: { ...request.tree, fields: [] } })).resolves.toBeDefined();
    await expect(folder.engine.sync(request)).rejects.toMatchObject({ reason: 'TemplateFailed' });
  });

  it('when the content does not have the hash of its blob', async () => {
    await using folder = new TestFolder();
    const request = folder.request({ a: 'content' });
    const blobs = {
      prepare: folder.repository.prepare.bind(folder.repository),
      open: async function* () {
        yield Buffer.from('damaged');
      },
    };
    await expect(folder.engine.sync({ ...request, blobs })).rejects.toMatchObject({
      reason: 'SourceDamaged',
      retryable: true,
    });
  });
});

describe('large files', () => {
  it('are written chunk by chunk: the next one is requested when the last is on disk', async () => {
    await using folder = new TestFolder();
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const count = 400;
    const whole = createHash('sha1').update(`blob ${chunk.length * count}\0`);
    for (let index = 0; index < count; index++) whole.update(chunk);
    const blob = whole.digest('hex');
    const sizes: number[] = [];
    const blobs = {
      prepare: async () => new Map([[blob, chunk.length * count]]),
      async *open() {
        const staging = join(folder.path, '.ignition-sync/staging');
        for (let index = 0; index < count; index++) {
          if (index % 100 === 0)
            sizes.push(statSync(join(staging, readdirSync(staging)[0] ?? '', '0')).size / chunk.length);
          yield chunk;
        }
      },
    };
    const file = { path: 'a', mode: 0o644, blob, source: 'a', transforms: [], transformHash: '' } as const;
    const tree = { files: new Map([['a', file]]), roots: [], isExcluded: () => false, fields: [] };
    await folder.engine.sync({ ...folder.request({}), tree, blobs });
    expect(sizes).toEqual([0, 100, 200, 300]);
  });

  it('come from large file storage, and are verified', async () => {
    await using folder = new TestFolder();
    const content = 'large';
    const oid = createHash('sha256').update(content).digest('hex');
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${content.length}\n`;
    const lfs = (bytes: string) => ({
      async *open() {
        yield Buffer.from(bytes);
      },
    });
    const request = folder.request({ 'projects/a/x': pointer }, { lfs: lfs(content) });
    await expect(folder.engine.sync({ ...request, lfs: lfs('wrong') })).rejects.toMatchObject({
      reason: 'SourceDamaged',
    });
    await folder.engine.sync(request);
    expect(folder.files()).toEqual({ 'projects/a/x': content });
    expect(await folder.engine.sync(request)).toMatchObject({ changes: [] });
    expect(await folder.engine.drift()).toEqual([]);
  });
});

describe('an interrupted sync', () => {
  it('is abandoned when it is aborted before its journal, and finished afterwards', async () => {
    const controller = new AbortController();
    const abortAt =
      (wanted: SyncStep) =>
      (step: SyncStep): void =>
        void (step === wanted && controller.abort());
    await using folder = new TestFolder({ hooks: { onStep: abortAt('stage') } });
    await expect(folder.engine.sync(folder.request({ a: '1' }, { signal: controller.signal }))).rejects.toThrow();
    expect(folder.files()).toEqual({});
    const late = new AbortController();
    await using other = new TestFolder({ hooks: { beforeApply: async () => late.abort() } });
    await other.engine.sync(other.request({ a: '1' }, { signal: late.signal }));
    expect(other.files()).toEqual({ a: '1' });
  });

  it('keeps its journal when a file cannot be placed, and is finished before the next sync', async () => {
    const blocked = (folder: TestFolder): string => join(folder.path, 'b');
    const folder: TestFolder = new TestFolder({
      hooks: { beforeApply: async () => writeFileSync(blocked(folder), 'gateway') },
    });
    await using _ = folder;
    const request = folder.request({ a: '1', 'b/c': '2' });
    await expect(folder.engine.sync(request)).rejects.toMatchObject({
      reason: 'ApplyFailed',
      path: 'b/c',
      retryable: true,
    });
    await expect(folder.engine.recover()).rejects.toMatchObject({ reason: 'ApplyFailed' });
    rmSync(blocked(folder));
    expect(await folder.engine.sync(request)).toMatchObject({ changes: [], recovery: { outcome: 'finished' } });
    expect(folder.files()).toEqual({ a: '1', 'b/c': '2' });
  });

  it('is discarded when its journal is damaged', async () => {
    await using folder = new TestFolder();
    await folder.engine.sync(folder.request({ a: '1' }));
    folder.write('.ignition-sync/journal.json', '{"schema":1,"id":"../../x"');
    expect(await folder.engine.recover()).toMatchObject({ outcome: 'damaged' });
    expect(folder.files()).toEqual({ a: '1' });
  });

  it('needs no manifest: a damaged one means that nothing is managed', async () => {
    await using folder = new TestFolder();
    await folder.engine.sync(folder.request({ a: '1', b: '1' }));
    folder.write('.ignition-sync/manifest.json', '{"schema":1,"files":{"../../etc/passwd":{}}}');
    expect(await folder.engine.manifest()).toBeUndefined();
    await folder.engine.sync(folder.request({ a: '1' }));
    expect(folder.files()).toEqual({ a: '1', b: '1' });
  });
});

describe('two agents', () => {
  it('do not use one data folder at the same time', async () => {
    await using folder = new TestFolder();
    await folder.engine.recover();
    await using other = folder.open('other-pod');
    await expect(other.recover()).rejects.toMatchObject({
      reason: 'DataFolderBusy',
      message: expect.stringContaining('used by pod'),
    });
    await folder.engine[Symbol.asyncDispose]();
    expect(await other.recover()).toMatchObject({ outcome: 'none' });
  });
});
