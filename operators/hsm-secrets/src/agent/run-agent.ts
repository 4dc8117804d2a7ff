import { mkdir } from 'node:fs/promises';
import { BowlineError } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { MountedCertificate } from '@bowline/runtime/certificates';
import { OPERATOR } from '../api/names.ts';
import { runTogether } from '../processes/run-together.ts';
import { serveHealth } from '../processes/serve-health.ts';
import { runPcscd } from './run-pcscd.ts';
import { serveAgent } from './serve-agent.ts';
import { TokenMonitor } from './token-monitor.ts';
import { SupervisedTokenService } from './worker/supervised-token-service.ts';
import type { WorkerConfig } from './worker/worker-messages.ts';
import type { WorkerCommand } from './worker/worker-process.ts';

/** AgentOptions configures the process of an agent. */
export interface AgentOptions {
  readonly worker: WorkerConfig;
  /** Defaults to the hidden command of this program. */
  readonly workerCommand?: WorkerCommand | undefined;
  /** Holds tls.crt, tls.key and ca.crt, which change. */
  readonly tlsFolder: string;
  /** The address of the gRPC server. */
  readonly listen: string;
  /** The address of /livez and /readyz. */
  readonly healthListen: string;
  /** Whether pcscd runs with the agent. */
  readonly pcscd: boolean;
  readonly log: Log;
  /** Called with the port of the gRPC server. Defaults to nothing. */
  readonly onListening?: ((port: number) => void) | undefined;
  /** Called with the port of the health server. Defaults to nothing. */
  readonly onHealthListening?: ((port: number) => void) | undefined;
}

/** runAgent serves the token of one device until the signal is aborted. A token that cannot be used is no failure. */
export async function runAgent(options: AgentOptions, signal: AbortSignal): Promise<void> {
  const { worker: config, workerCommand: command, tlsFolder: folder, listen: address, healthListen, log } = options;
  await createFolder(config.stateFolder);
  const service = new SupervisedTokenService({ config, command, log });
  const identity = new MountedCertificate({ operator: OPERATOR, folder, log });
  const monitor = new TokenMonitor({ service, log });
  const checks = {
    '/livez': () => undefined,
    '/readyz': () => monitor.problem() ?? (identity.current ? undefined : noCertificate(identity)),
  };
  const health = { address: healthListen, flag: '--health-listen', checks, onListening: options.onHealthListening };
  await runTogether(signal, [
    (end) => serveHealth(health, end),
    (end) => identity.run(end),
    (end) => service.run(end),
    (end) => monitor.run(end),
    async (end) => {
      const server = await serveAgent({ service, identity, address, log, signal: end });
      log.info('serving the token', { port: server.port });
      options.onListening?.(server.port);
      await server.stopped;
    },
    ...(options.pcscd ? [(end: AbortSignal) => runPcscd({ log }, end)] : []),
  ]);
}

function noCertificate(identity: MountedCertificate): string {
  return identity.problem()?.message ?? 'the certificate has not been read yet';
}

async function createFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new BowlineError(
      'BOWLINE_HSM_STATE_FOLDER',
      `cannot create the folder ${path} (${code}): mount a writable volume, or set --state-folder`,
      { cause },
    );
  }
}
