import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { POD_ANNOTATIONS } from '../../../operators/ignition-sync/src/api/names.ts';
import { SubjectProcess } from '../../support/subject-process.ts';
import type { IgnitionScene } from './scene.ts';

/** AgentPlace is where an agent runs, and for what. */
export interface AgentPlace {
  readonly namespace: string;
  readonly cr: string;
  /** The pod, whose ServiceAccount is `default`. */
  readonly pod: string;
  readonly gateway: string;
  readonly repo: string;
  /** Has the data folder, the repository and everything else. */
  readonly folder: string;
  readonly servicePath: string;
}

/** writeApiKey writes an API key for a gateway, and returns the file. */
export function writeApiKey(folder: string): string {
  const file = join(folder, 'api-key');
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, 'agent:bench-secret\n', { mode: 0o600 });
  return file;
}

/**
 * startAgent starts `bowline ignition-sync agent`, bundled, with the permissions of its pod. `token` is sent to the Git server if
 * the IgnitionSync uses one.
 */
export async function startAgent(
  { known, cluster }: IgnitionScene,
  place: AgentPlace & { readonly gatewayPort: number; readonly token?: string },
): Promise<SubjectProcess> {
  const { namespace, cr, pod, gateway, repo, folder, servicePath, gatewayPort, token } = place;
  if (known.program === undefined) throw new Error('the program is not installed yet');
  const path = (name: string): string => join(folder, name);
  for (const name of ['data', 'pod-info', 'scratch']) mkdirSync(path(name), { recursive: true });
  writeFileSync(path('pod-info/annotations'), `${POD_ANNOTATIONS.servicePath}=${JSON.stringify(servicePath)}\n`);
  if (token !== undefined) writeFileSync(path('token'), token, { mode: 0o600 });
  const serviceAccount = { namespace, name: 'default' };
  const kubeconfig = path('kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(await cluster.kubeconfigFor({ serviceAccount, pod })), { mode: 0o600 });
  const flags = {
    ...{ cr, 'pod-name': pod, 'pod-namespace': namespace, 'gateway-name': gateway, repo, kubeconfig },
    ...{ 'data-folder': path('data'), 'repo-folder': path('repo'), 'scratch-folder': path('scratch') },
    ...{ 'api-key-file': writeApiKey(folder), 'pod-info-folder': path('pod-info') },
    ...(token === undefined ? {} : { 'git-token-file': path('token') }),
    ...{ 'gateway-port': String(gatewayPort), 'local-gateway-port': String(gatewayPort) },
    ...{ 'health-address': '127.0.0.1:0', 'metrics-address': '127.0.0.1:0' },
  };
  const args = Object.entries(flags).flatMap(([flag, text]) => [`--${flag}`, text]);
  const command = [known.program, 'ignition-sync', 'agent', ...args];
  return new SubjectProcess({ file: process.execPath, args: command, endSignal: 'SIGTERM' }, []);
}
