import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BowlineError } from '@bowline/runtime';
import { ensureBinaries } from '../binaries/build-binaries.ts';
import { findBinaries } from '../binaries/find-binaries.ts';
import type { ControlPlaneAccess } from '../control-plane.ts';
import { writeKubeconfig } from '../kubeconfig.ts';
import type { Cluster } from './cluster.ts';

/**
 * Kubectl runs kubectl with arguments and standard input, and returns its output; it rejects with the error output when
 * kubectl fails.
 */
export type Kubectl = (args: readonly string[], input?: string) => Promise<string>;

/** kubectlOf returns kubectl with the credentials of the administrator of a test's cluster. */
export async function kubectlOf(c: Cluster): Promise<Kubectl> {
  const kubectl = await kubectlProgram(c.controlPlane);
  const folder = await mkdtemp(join(tmpdir(), 'bowline-kubectl-'));
  c.onDispose(() => rm(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, 'admin');
  await writeKubeconfig(kubeconfig, await c.kubeconfig('admin'));
  return (args, input = '') =>
    new Promise((resolve, reject) => {
      const child = execFile(kubectl, ['--kubeconfig', kubeconfig, ...args], (error, stdout, stderr) => {
        if (error) reject(new Error(`kubectl ${args.join(' ')}: ${stderr}`, { cause: error }));
        else resolve(stdout);
      });
      child.stdin?.end(input);
    });
}

/**
 * kubectlProgram returns the path of kubectl. It is built with the real control plane; with the embedded one, which
 * needs Node alone, the running test is skipped with the reason if kubectl is missing.
 */
export async function kubectlProgram({ kind }: Pick<ControlPlaneAccess, 'kind'>): Promise<string> {
  if (kind === 'kubernetes') return (await ensureBinaries(['kubectl'])).paths.kubectl;
  const found = await findBinaries(['kubectl']);
  if (found) return found.paths.kubectl;
  const reason = 'kubectl is not on the PATH; install it, or run `bowline control-plane build`';
  const { getCurrentTest } = await import('vitest/suite');
  getCurrentTest()?.context.skip(reason);
  throw new BowlineError('BOWLINE_BINARIES_MISSING', reason);
}
