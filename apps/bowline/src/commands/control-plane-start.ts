import { resolve } from 'node:path';
import type { ControlPlane } from '@bowline/control-plane';
import { BowlineError } from '@bowline/runtime';
import { Command, Option } from 'commander';
import { clearKubeconfig } from '../control-plane/kubeconfig-file.ts';
import { type ControlPlaneKind, launchControlPlane } from '../control-plane/launch-control-plane.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { type OutputFormat, outputOption, printValue } from '../terminal/output-format.ts';
import { parsePort } from './parse-port.ts';

interface StartOptions {
  readonly kind: ControlPlaneKind;
  readonly port?: number;
  readonly kubeconfig: string;
  readonly dataDir?: string;
  readonly plainHttp?: boolean;
  readonly output: OutputFormat;
}

/** startCommand returns the command `bowline control-plane start`. */
export function startCommand(io: Io): Command {
  return new Command('start')
    .description('Runs a control plane in the foreground until SIGINT or SIGTERM.')
    .addOption(
      new Option('--kind <kind>', 'embedded: an API server in this process; kubernetes: the real components')
        .choices(['embedded', 'kubernetes'] satisfies ControlPlaneKind[])
        .makeOptionMandatory(),
    )
    .option('--port <number>', 'port of the API server on 127.0.0.1 (default: a free one)', parsePort)
    .requiredOption('--kubeconfig <file>', "where to write the administrator's kubeconfig, once everything is ready")
    .option('--data-dir <folder>', 'folder to keep data, certificates and logs in (default: nothing is kept)')
    .option('--plain-http', 'embedded only: HTTP instead of HTTPS; all clients are anonymous')
    .addOption(outputOption('table'))
    .addHelpText(
      'after',
      `
The embedded control plane runs in this process and only needs Node. The binaries of the real one are taken from
KUBEBUILDER_ASSETS, else the PATH, else a cache that is built once with Go (about 6 minutes).
Both are for development and tests: they listen on 127.0.0.1 only, and the etcd of the real one has no password.

Examples:
  bowline control-plane start --kind embedded --port 6443 --kubeconfig kubeconfig
  bowline control-plane start --kind kubernetes --data-dir cluster --kubeconfig kubeconfig`,
    )
    .action((options: StartOptions) => start(options, io));
}

async function start(options: StartOptions, io: Io): Promise<void> {
  if (options.plainHttp && options.kind !== 'embedded') {
    throw new BowlineError(
      'BOWLINE_CONTROL_PLANE_OPTIONS',
      '--plain-http is for the embedded control plane; the real one serves HTTPS only',
    );
  }
  const { writeKubeconfig } = await import('@bowline/control-plane');
  const kubeconfig = resolve(options.kubeconfig);
  await clearKubeconfig(kubeconfig);
  const { signal, interrupted } = listenForInterrupt();
  const { port, dataDir, plainHttp } = options;
  const launched = await launchControlPlane(options.kind, { port, dataDir, plainHttp, signal });
  await using controlPlane = launched.controlPlane;
  await writeKubeconfig(kubeconfig, await controlPlane.kubeconfig('admin'));
  io.out(await announcement(controlPlane, { ...options, kubeconfig }, io));
  try {
    await Promise.race([interrupted, launched.crashed]);
  } finally {
    // The control plane that it names is about to stop; with a data folder a later run brings it back.
    if (dataDir === undefined) await clearKubeconfig(kubeconfig);
  }
  io.err('stopping\n');
}

/** Returns the message that is printed once the control plane is ready. */
function announcement(
  { kind, version, url, timings, folder }: ControlPlane,
  { kubeconfig, dataDir, output }: StartOptions,
  { colors }: Io,
): Promise<string> {
  const logs = kind === 'kubernetes' ? resolve(folder, 'logs') : undefined;
  const facts = { kind, version, url, readyMs: Math.round(timings.totalMs), kubeconfig, ...(logs ? { logs } : {}) };
  return printValue(facts, output, () => {
    const seconds = (timings.totalMs / 1000).toFixed(1);
    const name = kind === 'embedded' ? 'embedded control plane' : 'Kubernetes';
    const lines = [
      `${colors.out.green('ready')} ${name} ${version} at ${url} in ${seconds} s`,
      `kubeconfig ${kubeconfig}`,
      ...(logs ? [`logs       ${logs}`] : []),
      `try        kubectl --kubeconfig ${kubeconfig} get namespaces`,
      `stop       Ctrl-C${dataDir === undefined ? ', which removes everything' : ''}`,
    ];
    return `${lines.join('\n')}\n`;
  });
}
