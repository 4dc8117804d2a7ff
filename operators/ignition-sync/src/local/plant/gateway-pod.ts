import { join } from 'node:path';
import type { Pod } from '@bowline/kubernetes';
import { type Clock, systemClock, untilAborted } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { type Client, connect, createClient, loadKubeconfig } from '@bowline/runtime/client';
import type { LocalContext } from '@bowline/runtime/manager';
import { agentCommand } from '../../agent/agent-command.ts';
import { type AgentOptions, runAgent } from '../../agent/run-agent.ts';
import { codeOf, send } from '../../http/send.ts';
import { SimulatedGateway } from '../../simulated-gateway/simulated-gateway.ts';
import { parseFlags } from '../sidecar/parse-flags.ts';
import { type PreparedSidecar, prepareSidecar } from '../sidecar/prepare-sidecar.ts';
import { freePort } from './trial-state.ts';

/** GatewayPodOptions configures what runs for a pod of a gateway. */
export interface GatewayPodOptions {
  readonly pod: Pod;
  /** A folder for the volumes of the pod. */
  readonly folder: string;
  readonly admin: Pick<Client, 'find'>;
  readonly kubeconfigFor: LocalContext['kubeconfigFor'];
  readonly log: Log;
  readonly clock?: Clock | undefined;
  /** Called when the volumes exist, with a function that updates them when the pod changes. */
  readonly onPrepared: (refresh: PreparedSidecar['refresh']) => void;
  /** Called when the gateway runs. */
  readonly onRunning: (url: string) => void;
}

const ANY_PORT = '127.0.0.1:0';
const POLL_MS = 100;
const PROBE_TIMEOUT_MS = 1_000;

/**
 * runGatewayPod runs the containers of a gateway's pod in this process: first the agent, with the command line of its
 * container, and once it has started the gateway, as a kubelet does with a sidecar. Resolves when the signal is aborted and both
 * have ended.
 */
export async function runGatewayPod(options: GatewayPodOptions, signal: AbortSignal): Promise<void> {
  const { pod, folder, admin, log, clock = systemClock } = options;
  const port = await freePort();
  const sidecar = await prepareSidecar({
    pod,
    folder,
    client: admin,
    kubeconfigFor: options.kubeconfigFor,
    flags: { 'local-gateway-port': String(port), 'health-address': ANY_PORT, 'metrics-address': ANY_PORT },
  });
  options.onPrepared(sidecar.refresh);
  const given = agentOptions(sidecar);
  const kubeconfig = await loadKubeconfig({ paths: [join(folder, '.kubeconfig', 'config')] });
  await using client = createClient({ transport: connect(kubeconfig) });
  const stop = new AbortController();
  const ending = AbortSignal.any([signal, stop.signal]);
  let healthPort = 0;
  const onListening = (ports: { readonly health?: number | undefined }): void => {
    healthPort = ports.health ?? 0;
  };
  const agent = runAgent(given, { client, log, signal: ending, onListening });
  try {
    await Promise.race([untilStarted(() => healthPort, clock, ending), agent]);
    const { podName: name, dataFolder, apiKeyFile, gatewayTls: tls } = given;
    await using gateway = new SimulatedGateway({ name, dataFolder, apiKeyFile, port, tls, log });
    await gateway.start();
    options.onRunning(gateway.url);
    await Promise.race([untilAborted(signal), agent]);
  } finally {
    stop.abort();
    await agent.catch(() => undefined);
  }
}

/** The command line is that of the container, so it is parsed as the program parses it. */
function agentOptions({ args }: Pick<PreparedSidecar, 'args'>): AgentOptions {
  const schema = agentCommand.options?.json ?? {};
  return parseFlags(args.slice(2), schema) as AgentOptions;
}

async function untilStarted(port: () => number, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!(await isStarted(port(), clock, signal))) await clock.sleep(POLL_MS, signal);
}

async function isStarted(port: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  if (port === 0) return false;
  const call = {
    url: new URL(`http://127.0.0.1:${port}/startupz`),
    method: 'GET',
    timeoutMs: PROBE_TIMEOUT_MS,
  } as const;
  const status = await send(call, (answer) => Promise.resolve(answer.status), { signal, wire: clock }).catch(codeOf);
  return status === 200;
}
