import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBinaries, startControlPlane, writeKubeconfig } from '@bowline/control-plane';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { repositoryRoot } from '../../scripts/repository.ts';
import { npm, packPackages } from '../support/packed-packages.ts';
import { Reader } from './reader.ts';

const guide = join(repositoryRoot, 'docs/guide');
const pages = readdirSync(guide)
  .filter((name) => /^\d+-.*\.md$/.test(name))
  .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));

describe('a reader of the guide', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bowline-guide-'));
  const project = join(folder, 'previews');
  const reader = new Reader({
    cwd: project,
    programs: join(folder, 'bin'),
    env: { KUBECONFIG: join(project, 'kubeconfig'), HEALTH_ADDRESS: '0', METRICS_ADDRESS: '0' },
    background: 'npm run -s dev',
    ready: (started) => expect.poll(() => started.logged(), { timeout: 60_000 }).toContain('controller started'),
  });
  let isMade = false;
  const made = async (): Promise<void> => {
    await sharedControlPlane(); // Skips the test if there is no control plane.
    if (!isMade) makeProject(project);
    isMade = true;
  };
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has a project that compiles and passes its own tests', async () => {
    await made();
    await reader.run('npm run build');
    expect(await reader.run('npm test')).toMatch(/Tests +\d+ passed/);
    expect(await reader.run("npm run test:cluster -- -t 'runs a preview'")).toMatch(/Tests +1 passed/);
  }, 300_000);

  it('gets the output that the guide shows', async () => {
    await made();
    const { paths } = await ensureBinaries(['kubectl']);
    mkdirSync(join(folder, 'bin'));
    symlinkSync(paths.kubectl, join(folder, 'bin/kubectl'));
    await using controlPlane = await startControlPlane({ kind: 'embedded' });
    await writeKubeconfig(join(project, 'kubeconfig'), await controlPlane.kubeconfig('admin'));
    await using reading = reader;
    // Update the pages with: npm run test:kubernetes -- test/guide -u
    for (const name of pages) await reading.read(join(guide, name));
    reading.finish();
  }, 300_000);
});

/** A reader's project after step 1: the example's files, the packed packages, and the tools of this repository. */
function makeProject(project: string): void {
  cpSync(join(repositoryRoot, 'docs/examples/preview'), project, { recursive: true });
  mkdirSync(join(project, 'packages'));
  packPackages(join(project, 'packages'), ['kubernetes', 'machinery', 'runtime', 'control-plane']);
  const file = join(project, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { devDependencies: Record<string, string> };
  // TypeScript and vitest are large and slow to install, so those of this repository are used.
  const { '@bowline/control-plane': controlPlane, ...tools } = manifest.devDependencies;
  expect(JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8'))).toMatchObject({
    devDependencies: tools,
  });
  writeFileSync(file, JSON.stringify({ ...manifest, devDependencies: { '@bowline/control-plane': controlPlane } }));
  npm(project, 'install', '--silent', '--no-audit', '--no-fund', '--prefer-offline');
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
  rmSync(join(project, 'node_modules/.bin'), { recursive: true, force: true });
  for (const name of ['.bin', ...Object.keys(tools)]) {
    symlinkSync(join(repositoryRoot, 'node_modules', name), join(project, 'node_modules', name));
  }
}
