import { lstat, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { applyDefaults } from '@bowline/machinery/schema';
import { expect, it } from 'vitest';
import { runGit } from '../../../../test/support/git/git-program.ts';
import { POD_ANNOTATIONS } from '../api/names.ts';
import { syncProfileSpec } from '../api/sync-profile.ts';
import type { AgentProfile } from '../protocol/agent-profile.ts';
import type { GatewayReport } from '../protocol/gateway-report.ts';
import { type AgentRig, agentRig, FIRST, type Publication } from './agent-rig.test-support.ts';

const SITE = 'services/site';
const SYSTEM = 'config/resources/core/ignition/system-properties/config.json';

const isSynced =
  (commit: string, hash?: string) =>
  ({ syncStatus, syncedCommit, appliedHash }: GatewayReport): boolean =>
    syncStatus === 'Synced' && syncedCommit === commit && (hash === undefined || appliedHash === hash);

/** A rig with a running gateway and agent. */
async function running(): Promise<AgentRig> {
  const rig = await agentRig();
  await rig.gateway.start();
  await rig.start();
  return rig;
}

/** sync publishes a commit, and waits until the gateway has it. */
async function sync(rig: AgentRig, commit: string, changes: Publication = {}): Promise<Record<string, string>> {
  const hash = await rig.publish(commit, changes);
  await rig.untilReport(isSynced(commit, hash));
  return await rig.files();
}

const profile = (spec: object): AgentProfile => ({
  spec: applyDefaults(spec, syncProfileSpec.json) as AgentProfile['spec'],
});

it('scenario 14 keeps what it does not manage, and deletes orphaned managed files', async () => {
  const rig = await running();
  const own = {
    'projects/overview/.resources/cache': 'of the gateway',
    'projects/overview/own.txt': 'unmanaged below a managed root',
    'projects/local/project.json': '{}',
    'config/resources/local/key.json': '{"secret": 1}',
    'config/plant.ini': 'beside a mapped file',
  };
  for (const [path, content] of Object.entries(own)) await rig.place(path, content);
  const extra = {
    additionalFiles: [{ source: 'shared/ignition.conf', dest: 'config/ignition.conf', type: 'file' as const }],
  };
  const first = await rig.commit({
    ...FIRST,
    [`${SITE}/projects/overview/old.txt`]: 'old',
    'shared/ignition.conf': 'root',
  });
  expect(await sync(rig, first, { spec: extra })).toMatchObject({
    ...own,
    'projects/overview/old.txt': 'old',
    'config/ignition.conf': 'root',
  });
  const second = await rig.commit({ [`${SITE}/projects/overview/old.txt`]: null });
  const files = await sync(rig, second, { spec: extra });
  expect(files).toMatchObject(own);
  expect(files['projects/overview/old.txt']).toBeUndefined();
  const pruned = await sync(rig, second, { spec: { ...extra, prune: 'All' } });
  expect(pruned['projects/overview/own.txt']).toBeUndefined();
  expect(pruned['projects/local/project.json']).toBeUndefined();
  expect(pruned).toMatchObject({
    'projects/overview/.resources/cache': 'of the gateway',
    'config/resources/local/key.json': '{"secret": 1}',
    'config/plant.ini': 'beside a mapped file',
  });
  const [backup = ''] = (await readdir(join(rig.dataFolder, '.ignition-sync/replaced'))).toSorted().toReversed();
  const kept = join(rig.dataFolder, '.ignition-sync/replaced', backup, 'projects/overview/own.txt');
  expect(await readFile(kept, 'utf8')).toBe('unmanaged below a managed root');
});

it('scenario 14 refuses what must not be placed, with the path, and changes nothing', async () => {
  const rig = await running();
  const first = await rig.commit(FIRST);
  const before = await sync(rig, first);
  const blob = '100644 inline';
  const cases: readonly (readonly [reason: string, path: string, mode: string, content: string])[] = [
    ['SymlinkInRepository', 'projects/overview/link', '120000 inline', '/run/secrets/token'],
    ['SubmoduleInRepository', 'projects/overview/module', `160000 ${first}`, ''],
    ['UnsafePath', 'projects/overview/a?b.txt', blob, 'x'],
    ['ConfigSyntaxError', 'projects/overview/view/view.json', blob, '{"broken": '],
    [
      'LfsPointer',
      'projects/overview/big.bin',
      blob,
      `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 5\n`,
    ],
  ];
  for (const [reason, path, mode, content] of cases) {
    const commit = await commitAs(rig, first, `${SITE}/${path}`, mode, content);
    await rig.publish(commit);
    const report = await rig.untilReport(({ errorReason }) => errorReason === reason);
    expect(report, reason).toMatchObject({ syncStatus: 'Error', syncedCommit: first });
    expect(report.errorMessage, reason).toContain(path);
    expect(await rig.files(), reason).toEqual(before);
  }
  const good = await commitAs(rig, first, `${SITE}/projects/overview/good.txt`, blob, 'good');
  expect(await sync(rig, good)).toEqual({ ...before, 'projects/overview/good.txt': 'good' });
});

it('scenario 14 follows no link in the data folder', async () => {
  const rig = await agentRig();
  const outside = join(rig.folder, 'outside');
  await mkdir(outside);
  await mkdir(join(rig.dataFolder, 'projects'));
  await symlink(outside, join(rig.dataFolder, 'projects/overview'));
  await rig.publish(await rig.commit(FIRST));
  await rig.start();
  const report = await rig.untilReport(({ syncStatus }) => syncStatus === 'Error');
  expect(report.errorReason).toBe('UnsafeTarget');
  expect(await readdir(outside)).toEqual([]);
  expect((await lstat(join(rig.dataFolder, 'projects/overview'))).isSymbolicLink()).toBe(true);
});

it('scenario 15 sets the system name by the annotation, else by the template, and leaves every other byte', async () => {
  const rig = await running();
  const text = '\uFEFF{\r\n  "systemName" : "old",\r\n  "a": "\\u00e9",  "systemName": "twice" }';
  const commit = await rig.commit({ ...FIRST, [`${SITE}/${SYSTEM}`]: text });
  const expected = (name: string): string => text.replace('"old"', `"${name}"`).replace('"twice"', `"${name}"`);
  expect((await sync(rig, commit))[SYSTEM]).toBe(text);
  const spec = { normalize: { systemName: true } };
  expect((await sync(rig, commit, { spec }))[SYSTEM]).toBe(expected('site'));
  const annotations = { [POD_ANNOTATIONS.servicePath]: SITE, [POD_ANNOTATIONS.systemName]: 'plant-{{.PodOrdinal}}' };
  await rig.annotate(annotations);
  // The annotations of the pod are read again with every comparison.
  await rig.publish(commit, { spec, metadata: { trigger: '2026-01-01T00:00:00Z' } });
  await expect.poll(async () => (await rig.files())[SYSTEM]).toBe(expected('plant-0'));
});

it('scenario 15 composes the overlay of the deployment mode again when only core changed', async () => {
  const rig = await running();
  await rig.annotate({ [POD_ANNOTATIONS.servicePath]: SITE, [POD_ANNOTATIONS.deploymentMode]: 'dev' });
  const overlay = `${SITE}/config/resources/dev/ignition/system-properties/config.json`;
  const commit = await rig.commit({ ...FIRST, [overlay]: '{"mode": "dev"}' });
  expect((await sync(rig, commit))[SYSTEM]).toBe('{"mode": "dev"}');
  const next = await rig.commit({ [`${SITE}/${SYSTEM}`]: '{"systemName": "changed"}' });
  expect((await sync(rig, next))[SYSTEM]).toBe('{"mode": "dev"}');
});

it('scenario 16 follows a profile, also when it changes without a commit, and only reports with dryRun', async () => {
  const rig = await running();
  await rig.annotate({ [POD_ANNOTATIONS.syncProfile]: 'lines' });
  const commit = await rig.commit({
    ...FIRST,
    'shared/line.json': '{"area": "{{.Vars.area}}", "n": 1}',
    'shared/skip.tmp': 'x',
  });
  const mapping = {
    source: 'shared',
    destination: 'projects/shared',
    template: true,
    patches: [{ file: '*.json', set: { '.n': '2' } }],
  };
  const published = (changes: object): Publication => ({
    plan: { profile: 'lines' },
    metadata: {
      profiles: {
        lines: profile({ mappings: [mapping], excludePatterns: ['**/*.tmp'], vars: { area: 'north' }, ...changes }),
      },
    },
  });
  expect(await sync(rig, commit, published({}))).toEqual({ 'projects/shared/line.json': '{"area": "north", "n": 2}' });
  const south = published({ vars: { area: 'south' } });
  expect(await sync(rig, commit, south)).toEqual({ 'projects/shared/line.json': '{"area": "south", "n": 2}' });
  const dry = published({ vars: { area: 'west' }, dryRun: true });
  const hash = await rig.publish(commit, dry);
  expect(await rig.untilReport(({ appliedHash }) => appliedHash === hash)).toMatchObject({
    syncStatus: 'Synced',
    dryRun: { added: 0, modified: 1, deleted: 0 },
  });
  expect(await rig.files()).toEqual({ 'projects/shared/line.json': '{"area": "south", "n": 2}' });
  await rig.publish(commit, { plan: { profile: 'lines' } });
  const missing = await rig.untilReport(({ errorReason }) => errorReason === 'ProfileNotFound');
  expect(missing.errorMessage).toContain('SyncProfile lines does not exist');
});

it('scenario 16 excludes by default, by the IgnitionSync and by annotation', async () => {
  const rig = await running();
  await rig.annotate({ [POD_ANNOTATIONS.servicePath]: SITE, [POD_ANNOTATIONS.excludePatterns]: '**/*.bak' });
  const names = ['.gitkeep', 'a.bak', 'a.tmp', 'a.txt', '.resources/x'];
  const files = Object.fromEntries(names.map((name) => [`${SITE}/projects/overview/${name}`, name]));
  const commit = await rig.commit({ ...FIRST, ...files });
  const placed = Object.keys(await sync(rig, commit, { spec: { excludePatterns: ['**/.gitkeep', '**/*.tmp'] } }));
  const overview = placed.filter((path) => names.some((name) => path.endsWith(`/${name}`)));
  expect(overview).toEqual(['projects/overview/a.txt']);
});

/** Commits one file with any mode on top of a commit. */
async function commitAs(rig: AgentRig, parent: string, path: string, mode: string, content: string): Promise<string> {
  const data = mode.endsWith('inline') ? `\ndata ${Buffer.byteLength(content)}\n${content}\n` : '\n';
  const [kind, source] = mode.split(' ');
  const input = `commit refs/heads/hostile\ncommitter test <test@example.com> 1767225600 +0000\ndata 0\nfrom ${parent}\nM ${kind} ${source} ${JSON.stringify(path)}${data}`;
  await runGit(rig.repository.folder, ['fast-import', '--quiet', '--force'], { input });
  return await runGit(rig.repository.folder, ['rev-parse', 'refs/heads/hostile']);
}
