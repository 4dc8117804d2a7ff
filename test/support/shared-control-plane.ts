import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { SharedControlPlane } from '@bowline/control-plane/testing';
import type { TestProject } from 'vitest/node';

/**
 * The globalSetup of the project `kubernetes`: one real control plane for the whole run; every test file attaches to it and works in
 * its own namespaces. If neither its binaries nor Go are available, the tests are skipped with the reason.
 *
 * A run may attach to a control plane that is kept running: BOWLINE_TEST_CONTROL_PLANE names the file with the first line that
 * serve-control-plane.ts printed.
 *
 * It runs in a separate process because vitest loads the packages of a globalSetup without the source condition: here, they would
 * be the last build.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const kept = process.env.BOWLINE_TEST_CONTROL_PLANE;
  if (kept !== undefined) {
    project.provide('bowlineControlPlane', JSON.parse(await readFile(kept, 'utf8')) as SharedControlPlane);
    return () => Promise.resolve();
  }
  const program = ['--conditions=@bowline/source', '--import', 'tsx', 'test/support/serve-control-plane.ts'];
  const server = spawn(process.execPath, [...process.execArgv, ...program], {
    cwd: project.config.root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(server, 'close');
  const stop = async (): Promise<void> => {
    server.stdin.end();
    await ended;
  };
  const failed = ended.then(() => {
    throw new Error('the control plane for the tests did not start; see its messages above');
  });
  const [line] = (await Promise.race([once(createInterface({ input: server.stdout }), 'line'), failed])) as [string];
  failed.catch(() => {});
  const shared = JSON.parse(line) as SharedControlPlane;
  if ('unavailable' in shared) {
    console.error(`SKIPPED: every test that needs a real control plane. ${shared.unavailable}`);
  }
  project.provide('bowlineControlPlane', shared);
  return stop;
}
