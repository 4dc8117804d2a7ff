import { describe, expect, it } from 'vitest';
import { SyncError } from '../sync-error.ts';
import { desiredTree, type TreeSettings } from './desired-tree.ts';
import { gatewayMappings, profileMappings, tagProviderPatterns } from './gateway-mappings.ts';
import type { TreeEntry } from './tree-entry.ts';

function listing(...paths: readonly (string | TreeEntry)[]): TreeEntry[] {
  return paths.map((path) => (typeof path === 'string' ? { path, mode: '100644', blob: `blob of ${path}` } : path));
}

function sources(entries: readonly TreeEntry[], settings: TreeSettings): Record<string, string> {
  return Object.fromEntries(Array.from(desiredTree(entries, settings).files, ([path, { source }]) => [path, source]));
}

function reasonOf(entries: readonly TreeEntry[], settings: TreeSettings): unknown {
  try {
    desiredTree(entries, settings);
  } catch (error) {
    return error instanceof SyncError ? `${error.reason} ${error.path}` : error;
  }
  return undefined;
}

const all = { mappings: [{ source: '.', destination: 'projects' }] };

describe('the files of a gateway', () => {
  it('come from its service path and the shared folders, and later sources override earlier ones', () => {
    const entries = listing(
      'site/projects/a/project.json',
      'site/projects/b/view.json',
      'site/config/resources/core/x/config.json',
      'site/config/resources/core/y/config.json',
      'site/config/resources/dev/y/config.json',
      'site/other/ignored.txt',
      'shared/scripts/code.py',
      'shared/udts/motor.json',
      'extra/file.txt',
    );
    const mappings = gatewayMappings({
      servicePath: 'site',
      deploymentMode: 'dev',
      scripts: { source: 'shared/scripts', destPath: 'ignition/script-python/lib' },
      udts: { source: 'shared/udts' },
      tagProvider: 'plant',
      additionalFiles: [{ source: 'extra/file.txt', dest: 'config/resources/core/x/config.json' }],
    });
    expect(sources(entries, { mappings, servicePath: 'site' })).toEqual({
      'projects/a/project.json': 'site/projects/a/project.json',
      'projects/b/view.json': 'site/projects/b/view.json',
      'projects/a/ignition/script-python/lib/code.py': 'shared/scripts/code.py',
      'projects/b/ignition/script-python/lib/code.py': 'shared/scripts/code.py',
      'config/resources/core/ignition/tag-type-definition/plant/motor.json': 'shared/udts/motor.json',
      'config/resources/core/y/config.json': 'site/config/resources/dev/y/config.json',
      'config/resources/core/x/config.json': 'extra/file.txt',
    });
  });

  it('lack the UDTs that are inherited, and the tag providers that are excluded', () => {
    const core = 'config/resources/core/ignition';
    const entries = listing(
      `site/${core}/tag-type-definition/default/motor.json`,
      `site/${core}/tag-type-definition/default/own.json`,
      `site/${core}/tag-definition/plant/tags.json`,
      'udts/motor.json',
    );
    const mappings = gatewayMappings({
      servicePath: 'site',
      udts: { source: 'udts' },
      tagInheritanceStrategy: 'leaf-only',
    });
    const excludePatterns = tagProviderPatterns(['plant']);
    expect(Object.keys(sources(entries, { mappings, excludePatterns }))).toEqual([
      `${core}/tag-type-definition/default/own.json`,
    ]);
  });

  it('contain a generated config-mode.json when the external resources do not exist', () => {
    const mappings = gatewayMappings({ servicePath: '.', externalResources: { source: 'no', createFallback: true } });
    const { files } = desiredTree(listing('projects/a/project.json'), { mappings });
    expect(files.get('config/resources/external/config-mode.json')).toMatchObject({
      content: '{}',
      blob: '9e26dfeeb6e641a33dae4961196235bdb965b21b',
    });
  });

  it('are those of a profile, with its deployment mode over core', () => {
    const mappings = profileMappings([{ source: 'base', destination: 'config/resources/core' }], { source: 'dev' });
    expect(sources(listing('base/a', 'base/b', 'dev/b'), { mappings })).toEqual({
      'config/resources/core/a': 'base/a',
      'config/resources/core/b': 'dev/b',
    });
  });

  it('are named by templates', () => {
    const mappings = [{ source: 'sites/{{.SiteNumber}}', destination: 'projects/{{ .Vars.name }}' }];
    const variables = { siteNumber: '7', vars: { name: 'line' } };
    expect(sources(listing('sites/7/project.json'), { mappings, variables })).toEqual({
      'projects/line/project.json': 'sites/7/project.json',
    });
  });

  it('never include the folders of the gateway, of git and of the agent', () => {
    const hidden = ['.git/config', 'a/.resources/x', 'a/.Resources/x', '.IGNITION-SYNC/lock', 'b/.sync-staging/y'];
    expect(sources(listing(...hidden, 'a/x'), all)).toEqual({ 'projects/a/x': 'a/x' });
  });

  it('count a folder as managed only if it exists in the commit', () => {
    const mappings = [
      { source: 'a', destination: 'projects/a' },
      { source: 'missing', destination: 'config' },
      { source: 'file.txt', destination: 'top.txt' },
    ];
    expect(desiredTree(listing('a/x', 'file.txt'), { mappings }).roots).toEqual(['projects/a']);
  });
});

describe('a tree is refused', () => {
  const link = { path: 'a/link', mode: '120000', blob: 'x' };
  const submodule = { path: 'a/module', mode: '160000', blob: 'x' };
  it.each([
    ['SymlinkInRepository projects/a/link', listing(link), all],
    ['SymlinkInRepository a/link', listing(link), { mappings: [{ source: 'a/link/b', destination: 'projects' }] }],
    ['SubmoduleInRepository projects/a/module', listing(submodule), all],
    ['UnsafePath projects/../up', listing('../up'), all],
    ['UnsafePath projects/a:b', listing('a:b'), all],
    ['UnsafePath projects/a\\b', listing('a\\b'), all],
    ['UnsafePath ../up', listing('x'), { mappings: [{ source: '.', destination: '../up' }] }],
    ['UnsafePath .', listing('x'), { mappings: [{ source: '.', destination: '.' }] }],
    ['PathCollision projects/a/b', listing('a', 'a/b'), all],
    ['TooManyFiles projects/b', listing('a', 'b'), { ...all, limits: { maxFiles: 1 } }],
    [
      'FileTooLarge projects/a',
      listing({ path: 'a', mode: '100644', blob: 'x', size: 9 }),
      { ...all, limits: { maxFileBytes: 8 } },
    ],
    ['ServicePathNotFound site', listing('a'), { ...all, servicePath: 'site' }],
    ['SourceNotFound b', listing('a'), { mappings: [{ source: 'b', destination: 'c', required: true }] }],
    ['TemplateFailed {{.Nope}}', listing('a'), { mappings: [{ source: '{{.Nope}}', destination: 'c' }] }],
  ] as const)('%s', (reason, entries, settings) => {
    expect(reasonOf(entries, settings)).toBe(reason);
  });

  it('for names that the file system does not distinguish, and only then', () => {
    const entries = listing('Line', 'line', 'caf\u00e9', 'cafe\u0301');
    expect(reasonOf(entries, all)).toBeUndefined();
    const names = { isCaseSensitive: false, isNormalizationSensitive: true };
    expect(reasonOf(entries, { ...all, names })).toBe('PathCollision projects/line');
    expect(reasonOf(entries, { ...all, names: { isCaseSensitive: true, isNormalizationSensitive: false } })).toBe(
      'PathCollision projects/cafe\u0301',
    );
  });

  it('but not for what is excluded', () => {
    const excludePatterns = ['**/link', 'projects/a:b'];
    expect(reasonOf(listing(link, 'a:b'), { ...all, excludePatterns })).toBeUndefined();
  });
});

describe('exclude patterns', () => {
  it.each([
    ['**/.gitkeep', '.gitkeep', true],
    ['**/.gitkeep', 'a/b/.gitkeep', true],
    ['**/.gitkeep', 'a/x.gitkeep', false],
    ['logs/', 'logs/a/b.txt', true],
    ['logs/', 'old/logs/a', false],
    ['**/logs/', 'old/logs/a', true],
    ['*.txt', 'a.txt', true],
    ['*.txt', 'a/b.txt', false],
    ['a/**', 'a/b/c', true],
    ['a/**', 'ab', false],
  ])('%s and %s', (pattern, path, isExcluded) => {
    expect(desiredTree([], { mappings: [], excludePatterns: [pattern] }).isExcluded(path)).toBe(isExcluded);
  });
});
