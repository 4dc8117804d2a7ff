import { randomBytes } from 'node:crypto';
import { chmodSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type WatchedFolder, watchedFolder } from './agent.test-support.ts';
import { findChanges } from './find-changes.ts';
import { heldFiles } from './held-files.ts';
import { repositoryPaths } from './repository-paths.ts';

const RESOURCE = '{"scope":"G","attributes":{"lastModification":{"actor":"git","timestamp":"2026-01-01T00:00:00Z"}}}';
const FILES = {
  'services/site/projects/line/project.json': '{}',
  'services/site/projects/line/views/a/view.json': '{"a":1}',
  'services/site/projects/line/views/a/resource.json': RESOURCE,
  'services/site/projects/line/script.py': 'pass',
  'services/site/config/a/config.json': '{\n  "systemName" : "template",\n  "port": 1\n}\n',
};

/** summary returns the changes as text. */
async function summary(watched: WatchedFolder, settings: object = {}): Promise<readonly string[] | string> {
  const found = await findChanges(await watched.state(settings));
  if (found.kind === 'refused') return `${found.reason}: ${found.message}`;
  return found.changes
    .map(({ action, path, content }) => `${action} ${path} ${content?.toString() ?? ''}`.trim())
    .toSorted();
}

describe('findChanges', () => {
  it('returns changed, new and deleted files with their paths in the repository, and nothing after a sync', async () => {
    await using watched = await watchedFolder(FILES);
    expect(await summary(watched)).toEqual([]);
    const { live } = watched;
    live.write('projects/line/views/a/view.json', '{"a":2}');
    live.write('projects/line/views/b/view.json', '{"b":1}');
    live.write('projects/other/project.json', '{"new":1}');
    rmSync(join(live.path, 'projects/line/script.py'));
    expect(await summary(watched)).toEqual([
      'added services/site/projects/line/views/b/view.json {"b":1}',
      'added services/site/projects/other/project.json {"new":1}',
      'deleted services/site/projects/line/script.py',
      'modified services/site/projects/line/views/a/view.json {"a":2}',
    ]);
    expect(await summary(watched, { watchPaths: ['projects/line/views/b'] })).toHaveLength(1);
  });

  it('ignores what a gateway rewrites, its caches, the folder of the agent, excluded files and links', async () => {
    await using watched = await watchedFolder(FILES);
    const { live } = watched;
    const rewritten = RESOURCE.replace('"git"', '"gateway"').replace('2026-01-01', '2026-02-02');
    live.write('projects/line/views/a/resource.json', rewritten);
    live.write('projects/.resources/cache', 'x');
    live.write('projects/line/.Resources/cache', 'x');
    live.write('projects/line/old.bak', 'x');
    live.write('projects/line/secret.key', 'x');
    symlinkSync('/etc/hostname', join(live.path, 'projects/line/link'));
    symlinkSync('/etc', join(live.path, 'projects/folder-link'));
    expect(await summary(watched, { guardrails: { excludePatterns: ['**/*.key'] } })).toEqual([]);
    live.write('projects/line/views/a/resource.json', rewritten.replace('"G"', '"A"'));
    expect(await summary(watched, { guardrails: { excludePatterns: ['**/*.key'] } })).toHaveLength(1);
  });

  it('reverses the system name exactly, and refuses other transforms and changed names', async () => {
    await using watched = await watchedFolder(FILES, { systemName: 'site-1' });
    const { live } = watched;
    const path = 'config/a/config.json';
    expect(live.files()[path]).toContain('"systemName" : "site-1"');
    live.write(path, live.files()[path]?.replace('"port": 1', '"port": 2') ?? '');
    const source = 'services/site/config/a/config.json';
    expect(await summary(watched)).toEqual([`modified ${source} {\n  "systemName" : "template",\n  "port": 2\n}`]);
    live.write(path, '{"systemName":"chosen on the gateway"}');
    expect(await summary(watched)).toContain(`NotReversible: nothing is sent to Git`);
    await using patched = await watchedFolder(FILES, {
      mappings: [
        { source: 'services/site/config', destination: 'config', patches: [{ file: '**', set: { '.port': '7' } }] },
      ],
    });
    patched.live.write(path, '{"systemName":"x","port":8}');
    expect(await summary(patched)).toContain(path);
  });

  it('sends nothing if a guardrail is exceeded, and names the files', async () => {
    await using watched = await watchedFolder(FILES);
    const { live } = watched;
    live.write('projects/line/one.txt', 'x'.repeat(100));
    live.write('projects/line/two.txt', 'x');
    expect(await summary(watched, { guardrails: { maxFilesPerPR: 1 } })).toBe(
      'GuardrailExceeded: nothing is sent to Git: 2 files were changed, and guardrails.maxFilesPerPR is 1: projects/line/one.txt, projects/line/two.txt',
    );
    const small = await summary(watched, { guardrails: { maxFileSize: '99' } });
    expect(small).toContain('guardrails.maxFileSize, 99: projects/line/one.txt');
    writeFileSync(join(live.path, 'projects/line/random.bin'), randomBytes(700_000));
    expect(await summary(watched)).toContain('600 KiB after compression: projects/line/random.bin');
  });

  it('keeps the mode of new files, and the time of the last change', async () => {
    await using watched = await watchedFolder(FILES);
    watched.live.write('projects/line/run.sh', 'x');
    chmodSync(join(watched.live.path, 'projects/line/run.sh'), 0o755);
    const found = await findChanges(await watched.state());
    expect(found).toMatchObject({
      changes: [{ isExecutable: true }],
      timestamp: expect.stringMatching(/^2\d{3}-.*Z$/),
    });
  });
});

describe('the place of a file in the repository', () => {
  const at = (path: string, source: string) => ({ path, source });
  const paths = repositoryPaths([
    at('projects/a/project.json', 'services/x/projects/a/project.json'),
    at('projects/a/lib/shared.py', 'shared/lib/shared.py'),
    at('projects/a/lib/own.py', 'services/x/projects/a/lib/own.py'),
    at('projects/a/lib/other.py', 'services/x/projects/a/lib/other.py'),
    at('root.txt', 'files/renamed.txt'),
    at('config/resources/external/config-mode.json', ''),
  ]);
  it.each([
    ['projects/a/lib/shared.py', 'shared/lib/shared.py'],
    ['projects/a/lib/new.py', 'services/x/projects/a/lib/new.py'],
    ['projects/a/new/deep/file', 'services/x/projects/a/new/deep/file'],
    ['projects/b/project.json', 'services/x/projects/b/project.json'],
    ['root.txt', 'files/renamed.txt'],
    ['other.txt', undefined],
    ['config/resources/external/config-mode.json', undefined],
    ['logs/wrapper.log', undefined],
  ])('%s is %s', (path, source) => {
    expect(paths.of(path)).toBe(source);
  });
});

it('holds every file that comes from a path in conflict', () => {
  const files = [
    { path: 'projects/a/lib.py', source: 'shared/lib.py' },
    { path: 'projects/b/lib.py', source: 'shared/lib.py' },
    { path: 'projects/a/own.py', source: 'a/own.py' },
  ];
  expect([...heldFiles(files, ['shared/lib.py', 'gone'])]).toEqual(['projects/a/lib.py', 'projects/b/lib.py']);
  expect(heldFiles(files).size).toBe(0);
});
