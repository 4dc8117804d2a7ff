import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ensureBinaries, startControlPlane, writeKubeconfig } from '@bowline/control-plane';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { repositoryRoot } from '../../scripts/repository.ts';
import { npm, packPackages } from '../support/packed-packages.ts';
import { normalised, sameOutput, stepsOf, withOutputs } from './console-blocks.ts';

const guide = join(repositoryRoot, 'docs/guide');
const pages = readdirSync(guide)
  .filter((name) => /^\d+-.*\.md$/.test(name))
  .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));

/** The command that goes on while the others run: what it prints need only hold the lines that its page shows. */
const BACKGROUND = 'npm run -s dev';

const isRead = (command: string): boolean => /^kubectl (get|describe|explain|auth) /.test(command);

describe('a reader of the guide', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bowline-guide-'));
  const project = join(folder, 'previews');
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'))),
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    KUBECONFIG: join(project, 'kubeconfig'),
    HEALTH_ADDRESS: '0',
    METRICS_ADDRESS: '0',
    NO_COLOR: '1',
    NODE_OPTIONS: '',
  };
  /** Not synchronously: this process plays the nodes. */
  const run = async (command: string): Promise<string> => {
    const { stdout } = await promisify(execFile)('bash', ['-c', `{ ${command}\n} 2>&1`], { cwd: project, env });
    return stdout;
  };
  let isMade = false;
  const made = async (): Promise<void> => {
    await sharedControlPlane(); // Skips the test where there is no control plane.
    if (!isMade) makeProject(project);
    isMade = true;
  };
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has a project that compiles and passes its own tests', async () => {
    await made();
    await run('npm run build');
    expect(await run('npm test')).toMatch(/Tests +\d+ passed/);
    expect(await run("npm run test:cluster -- -t 'runs a preview'")).toMatch(/Tests +1 passed/);
  }, 300_000);

  it('sees what the guide shows', async () => {
    await made();
    const { paths } = await ensureBinaries(['kubectl']);
    mkdirSync(join(folder, 'bin'));
    symlinkSync(paths.kubectl, join(folder, 'bin/kubectl'));
    await using controlPlane = await startControlPlane({ kind: 'kubernetes' });
    await writeKubeconfig(join(project, 'kubeconfig'), await controlPlane.kubeconfig('admin'));
    await using background = inBackground(project, env);

    const print = async (command: string, shown: string): Promise<string> => {
      if (command === BACKGROUND) {
        background.start();
        await expect.poll(background.printed, { timeout: 60_000 }).toContain('wrote the webhook configuration');
        return shown;
      }
      let printed = await run(`${command} || true`);
      // What only looks may look again: schemas are published, and events are sent, a moment later.
      for (let left = 10; left > 0 && isRead(command) && !sameOutput(printed, shown); left--) {
        await pause(500);
        printed = await run(`${command} || true`);
      }
      return sameOutput(printed, shown) ? shown : printed;
    };
    const claimed: string[] = [];
    for (const name of pages) {
      const page = readFileSync(join(guide, name), 'utf8');
      const outputs: string[] = [];
      for (const { command, output } of stepsOf(page)) {
        outputs.push(await print(command, output));
        if (command === BACKGROUND) claimed.push(...normalised(output).split('\n'));
      }
      // Write the pages anew with: npm run test:kubernetes -- test/guide -u
      await expect.soft(withOutputs(page, outputs)).toMatchFileSnapshot(join(guide, name));
    }
    const logged = normalised(background.printed());
    for (const line of claimed) expect.soft(logged).toContain(line);
  }, 300_000);
});

/** A reader's project after step 1: the example's files, the packed packages, and the tools of this repository. */
function makeProject(project: string): void {
  cpSync(join(repositoryRoot, 'docs/examples/preview'), project, { recursive: true });
  mkdirSync(join(project, 'packages'));
  packPackages(join(project, 'packages'), ['kubernetes', 'machinery', 'runtime', 'control-plane']);
  const file = join(project, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { devDependencies: Record<string, string> };
  // TypeScript and vitest are large and slow to install; those of this repository are the same.
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

/** Runs the long command in a process group of its own, because npm starts others. */
function inBackground(cwd: string, env: NodeJS.ProcessEnv) {
  let printed = '';
  let stop = (): Promise<unknown> => Promise.resolve();
  return {
    printed: () => printed,
    start(): void {
      const child = spawn('bash', ['-c', BACKGROUND], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
      const ended = once(child, 'close');
      const collect = (chunk: Buffer): void => {
        printed += chunk.toString();
      };
      child.stdout.on('data', collect);
      child.stderr.on('data', collect);
      stop = () => {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
        return ended;
      };
    },
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}
