import { describe, expect, it } from 'vitest';
import { POD_ANNOTATIONS } from '../api/names.ts';
import { profileOf } from '../discovery/gateways.test-support.ts';
import { COMMIT_A, metadataOf } from '../protocol/metadata.test-support.ts';
import { type EffectiveSettings, effectiveSettings, type GatewayContext } from './effective-settings.ts';

type Annotations = Partial<Record<keyof typeof POD_ANNOTATIONS, string>>;

const named = (annotations: Annotations): Record<string, string> =>
  Object.fromEntries(
    Object.entries(annotations).map(([id, value]) => [POD_ANNOTATIONS[id as keyof typeof POD_ANNOTATIONS], value]),
  );

function resultOf(annotations: Annotations, changes: Partial<GatewayContext> = {}) {
  return effectiveSettings({
    metadata: metadataOf(),
    plan: { commit: COMMIT_A, ref: 'main' },
    annotations: named(annotations),
    labels: { area: 'north' },
    podName: 'site-3',
    namespace: 'plant',
    gatewayName: 'site',
    ...changes,
  });
}

function settingsOf(annotations: Annotations, changes: Partial<GatewayContext> = {}): EffectiveSettings {
  const { settings, problem } = resultOf(annotations, changes);
  if (settings === undefined) throw new Error(problem.message);
  return settings;
}

const destinations = ({ tree }: EffectiveSettings): string[] =>
  tree.mappings.map(({ source, destination }) => `${source} -> ${destination}`);

const withProfile = (changes: object = {}, spec: object = {}): Partial<GatewayContext> => ({
  metadata: metadataOf(spec, { profiles: { edge: profileOf(changes) } }),
});

describe('the mappings of a gateway', () => {
  it('follow from its service path, the shared parts and additional files', () => {
    const metadata = metadataOf({
      shared: {
        externalResources: { enabled: true, source: 'shared/external' },
        scripts: { enabled: false, source: 'shared/scripts' },
        udts: { enabled: true, source: 'shared/udts' },
      },
      additionalFiles: [{ source: 'a.txt', dest: 'b.txt' }],
    });
    expect(
      destinations(settingsOf({ servicePath: 'sites/x', deploymentMode: 'dev', tagProvider: 'edge' }, { metadata })),
    ).toEqual([
      'sites/x/projects -> projects',
      'sites/x/config/resources/core -> config/resources/core',
      'shared/external -> config/resources/external',
      'shared/udts -> config/resources/core/ignition/tag-type-definition/edge',
      'sites/x/config/resources/dev -> config/resources/core',
      'a.txt -> b.txt',
    ]);
  });

  it('have the template variables of annotations replaced', () => {
    const { tree } = settingsOf({ servicePath: 'sites/{{.Labels.area}}/{{.PodOrdinal}}' });
    expect(tree.servicePath).toBe('sites/north/3');
  });

  it('are those of the profile instead, with its deployment mode', () => {
    const profile = withProfile(
      { deploymentMode: { name: 'dev', source: 'modes/dev' } },
      { additionalFiles: [{ source: 'a', dest: 'b' }] },
    );
    const settings = settingsOf({ syncProfile: 'edge', servicePath: 'ignored' }, profile);
    expect(destinations(settings)).toEqual(['services/site -> projects', 'modes/dev -> config/resources/core']);
    expect(settings.tree.servicePath).toBeUndefined();
  });

  it('are those of the profile without its deployment mode, if the pod names another', () => {
    const profile = withProfile({ deploymentMode: { name: 'dev', source: 'modes/dev' } });
    expect(destinations(settingsOf({ syncProfile: 'edge', deploymentMode: 'prod' }, profile))).toHaveLength(1);
  });

  it('onto the collection of the gateway itself are reported', () => {
    const profile = withProfile({ mappings: [{ source: 'a', destination: 'config/resources/local/x' }] });
    expect(settingsOf({ syncProfile: 'edge' }, profile).warnings).toHaveLength(1);
    expect(settingsOf({ servicePath: '.' }).warnings).toEqual([]);
  });
});

describe('the precedence of', () => {
  it.each<[what: string, annotations: Annotations, profile: object | undefined, seconds: number]>([
    ['the default', {}, undefined, 30],
    ['the profile', { syncProfile: 'edge' }, { syncPeriod: 60 }, 60],
    ['the annotation', { syncProfile: 'edge', syncPeriod: '5' }, { syncPeriod: 60 }, 5],
  ])('sync periods: %s applies', (_, annotations, profile, seconds) => {
    const settings = settingsOf({ servicePath: '.', ...annotations }, withProfile(profile));
    expect(settings.syncPeriodMs).toBe(seconds * 1_000);
  });

  it('Designer policies: the profile applies before the IgnitionSync', () => {
    const spec = { ignition: { designerSessionPolicy: 'fail', designerSessionTimeout: '7m' } };
    const changes = withProfile({ designerSessionPolicy: 'proceed' }, spec);
    expect(settingsOf({ syncProfile: 'edge' }, changes)).toMatchObject({
      designerSessionPolicy: 'proceed',
      designerSessionTimeoutMs: 420_000,
    });
    expect(settingsOf({ servicePath: '.' }, changes).designerSessionPolicy).toBe('fail');
  });

  it.each<[what: string, annotations: Annotations, normalize: boolean, systemName: string | undefined]>([
    ['nothing requests one', {}, false, undefined],
    ['the IgnitionSync', {}, true, '{{.GatewayName}}'],
    ['a template of the pod', { systemNameTemplate: 'x-{{.PodName}}' }, true, 'x-{{.PodName}}'],
    ['a name of the pod', { systemNameTemplate: 'x', systemName: 'main' }, false, 'main'],
  ])('system names: %s', (_, annotations, systemName, expected) => {
    const metadata = metadataOf({ normalize: { systemName } });
    expect(settingsOf({ servicePath: '.', ...annotations }, { metadata }).tree.systemName).toBe(expected);
  });

  it('exclude patterns: all of them apply', () => {
    const changes = withProfile({ excludePatterns: ['p/**'] }, { excludePatterns: ['c/**'] });
    const annotations = { syncProfile: 'edge', excludePatterns: 'a/**, b/** ,', excludeTagProviders: 'sim' };
    expect(settingsOf(annotations, changes).tree.excludePatterns).toEqual([
      'c/**',
      'p/**',
      'a/**',
      'b/**',
      'config/resources/*/ignition/tag-definition/sim/',
      'config/resources/*/ignition/tag-type-definition/sim/',
    ]);
  });

  it('pauses: either one pauses', () => {
    expect(settingsOf({ syncProfile: 'edge' }, withProfile({ paused: true })).paused).toBe(true);
    expect(settingsOf({ servicePath: '.' }, { metadata: metadataOf({}, { paused: true }) }).paused).toBe(true);
    expect(settingsOf({ servicePath: '.' }, withProfile({ paused: true })).paused).toBe(false);
  });

  it('dry runs: the profile requests one', () => {
    expect(settingsOf({ syncProfile: 'edge' }, withProfile({ dryRun: true })).dryRun).toBe(true);
  });
});

it('variables contain those of the profile and of the commit', () => {
  const { tree } = settingsOf({ syncProfile: 'edge' }, withProfile({ vars: { host: 'db' } }, { siteNumber: '7' }));
  expect(tree.variables).toMatchObject({
    vars: { host: 'db' },
    siteNumber: '7',
    ref: 'main',
    commit: COMMIT_A,
    labels: { area: 'north' },
  });
});

describe('a problem is named:', () => {
  it.each<[annotations: Annotations, reason: string, message: string]>([
    [{}, 'ServicePathMissing', 'neither the annotation ignition-sync.io/service-path nor'],
    [{ servicePath: '' }, 'ServicePathMissing', 'neither'],
    [{ servicePath: '../secrets' }, 'UnsafePath', 'ignition-sync.io/service-path'],
    [{ servicePath: '/etc' }, 'UnsafePath', 'absolute'],
    [{ servicePath: '{{.SiteNumber}}' }, 'TemplateFailed', 'spec.siteNumber'],
    [{ syncProfile: 'missing' }, 'ProfileNotFound', 'SyncProfile missing does not exist'],
    [{ syncProfile: 'constructor' }, 'ProfileNotFound', 'does not exist'],
    [{ syncProfile: 'bad' }, 'ProfileNotAccepted', 'SyncProfile bad: it depends on itself'],
    [{ servicePath: '.', syncPeriod: '4' }, 'InvalidAnnotation', 'sync-period'],
    [{ servicePath: '.', syncPeriod: '1m' }, 'InvalidAnnotation', 'from 5 to 3600'],
    [{ servicePath: '.', deploymentMode: '../x' }, 'InvalidAnnotation', 'deployment-mode'],
    [{ servicePath: '.', tagProvider: '..' }, 'InvalidAnnotation', 'tag-provider'],
    [{ servicePath: '.', excludeTagProviders: 'a,b/c' }, 'InvalidAnnotation', 'exclude-tag-providers'],
    [{ servicePath: '.', excludePatterns: 'a\\b' }, 'InvalidAnnotation', 'exclude-patterns'],
    [{ servicePath: '.', tagInheritanceStrategy: 'some' }, 'InvalidAnnotation', 'full or leaf-only'],
  ])('%j is %s', (annotations, reason, message) => {
    const metadata = metadataOf({}, { profiles: { bad: { problem: 'it depends on itself' } } });
    expect(resultOf(annotations, { metadata }).problem).toEqual({
      reason,
      message: expect.stringContaining(message) as string,
    });
  });

  it('a label cannot lead out of the repository', () => {
    const { problem } = resultOf({ servicePath: 'a/{{.Labels.area}}' }, { labels: { area: '../..' } });
    expect(problem?.reason).toBe('UnsafePath');
  });
});
