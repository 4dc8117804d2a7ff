import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SupervisorCommand } from '@bowline/control-plane';
import type { BowlineError } from '@bowline/runtime';
import { Command, InvalidArgumentError } from 'commander';
import pc from 'picocolors';
import { goModule } from '../go-module.ts';
import { untilInterrupted } from '../interrupt.ts';
import { clearKubeconfig } from '../kubeconfig-file.ts';
import { type Kind, kindOption, requireKubernetes } from './kind.ts';

interface StartOptions {
  readonly kind: Kind;
  readonly port?: number;
  readonly kubeconfig: string;
  readonly dataDir?: string;
}

/** startCommand is `bowline control-plane start`. */
export function startCommand(): Command {
  return new Command('start')
    .description('Runs a control plane in the foreground, until SIGINT or SIGTERM.')
    .addOption(kindOption())
    .option('--port <number>', 'port of the API server on 127.0.0.1 (default: a free one)', parsePort)
    .requiredOption(
      '--kubeconfig <file>',
      "where to write the administrator's kubeconfig; it appears once all is ready",
    )
    .option('--data-dir <folder>', 'keep data, certificates and logs here (default: a temporary folder)')
    .addHelpText(
      'after',
      `
The binaries come from KUBEBUILDER_ASSETS, else the PATH, else a cache that is filled once with Go (about 6 minutes).
It is for development and tests: it listens on 127.0.0.1 only, and etcd has no password.

Example:
  bowline control-plane start --kind kubernetes --port 6443 --kubeconfig kubeconfig`,
    )
    .action(start);
}

async function start(options: StartOptions): Promise<void> {
  requireKubernetes(options.kind, 'bowline control-plane start');
  const { startControlPlane, writeKubeconfig } = await import('@bowline/control-plane');
  const kubeconfig = resolve(options.kubeconfig);
  await clearKubeconfig(kubeconfig);
  const { signal, interrupted } = untilInterrupted();
  let crash: (error: BowlineError) => void = () => {};
  const crashed = new Promise<never>((_, reject) => {
    crash = reject;
  });
  // Raced below; a crash while stopping is nobody's business.
  crashed.catch(() => {});
  await using controlPlane = await startControlPlane({
    kind: 'kubernetes',
    port: options.port,
    dataDir: options.dataDir,
    signal,
    moduleDir: goModule(),
    supervisor: superviseSelf(),
    onProgress: (line) => console.error(line),
    onCrash: (error) => crash(error),
  });
  await writeKubeconfig(kubeconfig, await controlPlane.kubeconfig('admin'));
  const seconds = (controlPlane.timings.totalMs / 1000).toFixed(1);
  console.log(`${pc.green('ready')} Kubernetes ${controlPlane.version} at ${controlPlane.url} in ${seconds} s`);
  console.log(`kubeconfig ${kubeconfig}`);
  console.log(`logs       ${resolve(controlPlane.folder, 'logs')}`);
  console.log(`try        kubectl --kubeconfig ${kubeconfig} get namespaces`);
  console.log(`stop       Ctrl-C${options.dataDir === undefined ? ', which removes everything' : ''}`);
  try {
    await Promise.race([interrupted, crashed]);
  } finally {
    // What it names is about to vanish; with a data folder it will be there again.
    if (options.dataDir === undefined) await clearKubeconfig(kubeconfig);
  }
  console.error('stopping');
}

/** superviseSelf runs this very program as the supervisor, with whatever lets Node run it (loaders, conditions). */
function superviseSelf(): SupervisorCommand {
  const entry = process.argv[1] ?? fileURLToPath(import.meta.url);
  return { command: process.execPath, args: [...process.execArgv, entry, 'supervise'] };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new InvalidArgumentError('Give a whole number from 1 to 65535.');
  }
  return port;
}
