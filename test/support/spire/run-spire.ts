import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubeconfigDocument, writeKubeconfig } from '@bowline/control-plane';
import { type CertificateWithKey, systemRandom } from '@bowline/machinery';
import { freePorts } from '../../../packages/control-plane/src/ports.ts';
import { type RunningProgram, startProgram } from '../start-program.ts';
import { agentOnLoopback, controllerManagerOnLoopback, oidcOnLoopback, serverOnLoopback } from './loopback-config.ts';
import type { SpirePrograms } from './spire-programs.ts';

/** Spire runs the SPIRE programs of one cluster on loopback, with a folder in place of the volumes of their pods. */
export interface Spire extends AsyncDisposable {
  /** The address of the OIDC discovery provider. */
  readonly oidcPort: number;
  /** startServer runs a SPIRE server with a rendered `server.conf` and resolves when it is ready. */
  startServer(config: string, kubeconfig: KubeconfigDocument): Promise<RunningProgram>;
  /**
   * startAgent runs a SPIRE agent with a rendered `agent.conf`, with no data as in a new pod, and resolves when it is attested. The
   * token is the one that a kubelet mounts into its pod; the bundle is that of `writeBundle`.
   */
  startAgent(config: string, token: string): Promise<RunningProgram>;
  /**
   * startControllerManager runs a SPIRE controller manager, without webhooks, with a rendered `controller-manager-config.yaml`. It
   * resolves before leader election: a second one acts when the Lease of the first has expired, or is deleted.
   */
  startControllerManager(config: string, kubeconfig: KubeconfigDocument): Promise<RunningProgram>;
  /** startOidcDiscoveryProvider runs one with a rendered `oidc-discovery-provider.conf` and resolves when it has the keys. */
  startOidcDiscoveryProvider(config: string, certificate: CertificateWithKey): Promise<RunningProgram>;
  /** writeBundle writes `bundle.crt` of the trust bundle's ConfigMap, as a kubelet mounts it into the pod of the agent. */
  writeBundle(pem: string): Promise<void>;
  /** runServerCommand runs a command of the SPIRE server, for instance `['entry', 'show']`, and returns its JSON output. */
  runServerCommand(args: readonly string[]): Promise<unknown>;
  /** runAgentCommand runs a command of the SPIRE agent, for instance `['api', 'fetch', 'x509']`, and returns its JSON output. */
  runAgentCommand(args: readonly string[]): Promise<unknown>;
}

/**
 * runSpire prepares a folder and ports for SPIRE programs. Each program may be stopped by disposing of it and started again, with
 * the same data and ports. Disposing of the result stops those that still run and removes the folder.
 */
export async function runSpire(programs: SpirePrograms): Promise<Spire> {
  // A short path: sockets are limited to about 100 characters.
  const folder = await mkdtemp(join(tmpdir(), 'spire-'));
  const inFolder = (name: string): string => join(folder, name);
  const ports = await freePorts(11, systemRandom);
  const [apiPort = 0, serverHealthPort = 0, serverMetricsPort = 0, federationPort = 0, agentHealthPort = 0] = ports;
  const [agentMetricsPort = 0, managerHealthPort = 0, managerMetricsPort = 0, oidcPort = 0, oidcHealthPort = 0] =
    ports.slice(5);
  const serverSocket = inFolder('server.sock');
  const agentSocket = inFolder('agent.sock');
  const running = new Set<RunningProgram>();
  // The configuration, credentials and proxy of the user must not be used.
  const env = { PATH: process.env.PATH, HOME: folder, TMPDIR: folder };

  const start = async (
    name: keyof typeof fileNames,
    config: string,
    isReady: () => Promise<boolean>,
    more: { readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
  ): Promise<RunningProgram> => {
    const file = inFolder(fileNames[name]);
    await writeFile(file, config);
    const { args = [] } = more;
    const program = await startProgram({
      name: fileNames[name],
      program: programs[name],
      args: [...args, '-config', file],
      env: { ...env, ...more.env },
      isReady,
    });
    running.add(program);
    return {
      lastLines: () => program.lastLines(),
      async [Symbol.asyncDispose]() {
        running.delete(program);
        await program[Symbol.asyncDispose]();
      },
    };
  };

  return {
    oidcPort,
    async startServer(config, kubeconfig) {
      const place = {
        dataFolder: inFolder('server'),
        socket: serverSocket,
        kubeconfig: inFolder('server-kubeconfig'),
        apiPort,
        healthPort: serverHealthPort,
        metricsPort: serverMetricsPort,
        federationPort,
      };
      await mkdir(place.dataFolder, { recursive: true });
      await writeKubeconfig(place.kubeconfig, kubeconfig);
      const isReady = async () => existsSync(serverSocket) && (await responds(serverHealthPort, '/ready'));
      return start('server', serverOnLoopback(config, place), isReady, { args: ['run'] });
    },
    async startAgent(config, token) {
      const place = {
        dataFolder: inFolder('agent'),
        socket: agentSocket,
        bundle: inFolder('bundle.crt'),
        token: inFolder('token'),
        serverPort: apiPort,
        healthPort: agentHealthPort,
        metricsPort: agentMetricsPort,
      };
      await rm(place.dataFolder, { recursive: true, force: true });
      await mkdir(place.dataFolder);
      await writeFile(place.token, token, { mode: 0o600 });
      const isReady = async () => existsSync(agentSocket) && (await responds(agentHealthPort, '/ready'));
      return start('agent', agentOnLoopback(config, place), isReady, { args: ['run'] });
    },
    async startControllerManager(config, kubeconfig) {
      const place = { serverSocket, healthPort: managerHealthPort, metricsPort: managerMetricsPort };
      const file = inFolder('controller-manager-kubeconfig');
      await writeKubeconfig(file, kubeconfig);
      return start(
        'controllerManager',
        controllerManagerOnLoopback(config, place),
        () => responds(managerHealthPort, '/readyz'),
        // With webhooks it accepts no kubeconfig, only the account of its pod.
        { env: { KUBECONFIG: file, ENABLE_WEBHOOKS: 'false' } },
      );
    },
    async startOidcDiscoveryProvider(config, certificate) {
      const place = {
        agentSocket,
        certificate: inFolder('oidc.crt'),
        key: inFolder('oidc.key'),
        port: oidcPort,
        healthPort: oidcHealthPort,
      };
      await writeFile(place.certificate, certificate.certificatePem);
      await writeFile(place.key, certificate.keyPem, { mode: 0o600 });
      return start('oidcDiscoveryProvider', oidcOnLoopback(config, place), () => responds(oidcHealthPort, '/ready'));
    },
    async writeBundle(pem) {
      // A kubelet replaces the file too; the agent never reads half of it.
      await writeFile(inFolder('bundle.new'), pem);
      await rename(inFolder('bundle.new'), inFolder('bundle.crt'));
    },
    runServerCommand: (args) =>
      runCommand(programs.server, [...args, '-output', 'json', '-socketPath', serverSocket], env),
    runAgentCommand: (args) =>
      runCommand(programs.agent, [...args, '-output', 'json', '-socketPath', agentSocket], env),
    async [Symbol.asyncDispose]() {
      await Promise.all([...running].map((program) => program[Symbol.asyncDispose]()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Also the names of the programs in messages. */
const fileNames = {
  server: 'spire-server',
  agent: 'spire-agent',
  controllerManager: 'spire-controller-manager',
  oidcDiscoveryProvider: 'oidc-discovery-provider',
} as const satisfies Record<keyof SpirePrograms, string>;

/** A program that does not respond within this time is asked again. */
const PROBE_LIMIT_MS = 2_000;

async function responds(port: number, path: string): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(PROBE_LIMIT_MS) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

function runCommand(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<unknown> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { env }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${args.slice(0, 3).join(' ')}: ${stderr || stdout}`, { cause: error }));
      else resolve(JSON.parse(stdout));
    });
  });
}
