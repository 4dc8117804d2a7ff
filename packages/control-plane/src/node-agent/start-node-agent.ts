import { setMaxListeners } from 'node:events';
import { Node, StorageClass } from '@bowline/kubernetes';
import { type Clock, labelValueProblems, type Random, systemClock } from '@bowline/machinery';
import { BowlineError, type Log } from '@bowline/runtime';
import { type Client, isAlreadyExists, isNotFound } from '@bowline/runtime/client';
import { silentLog } from '@bowline/runtime/manager';
import { Addresses } from './addresses.ts';
import { AGENT_LABEL } from './behaviour.ts';
import { type LastProblem, rememberProblem } from './last-problem.ts';
import { startLogServer } from './log-server.ts';
import { DEFAULT_AGENT, type NodeTemplate, nodeObject } from './node-object.ts';
import { type Steering, steering } from './steer.ts';
import { localStorageClass } from './volumes/provisioner.ts';
import { VolumeFolders } from './volumes/volume-folders.ts';

/** NodeAgentOptions configures a node agent. */
export interface NodeAgentOptions {
  /** The agent's client; `nodeAgentRbac` returns the permissions it needs. Not closed by the agent. */
  readonly client: Client;
  /** Its nodes, or their number (`<name>-1`, `<name>-2`, …). Defaults to 1. More can be added while it runs. */
  readonly nodes?: number | readonly (string | NodeTemplate)[] | undefined;
  /** Distinguishes its nodes from those of other agents: the value of their label. Defaults to `bowline`. */
  readonly name?: string | undefined;
  /** Labels of every node it creates. Defaults to those of every node. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** The IPv4 network for the addresses of nodes and Pods; nothing listens there. Defaults to `10.244.0.0/16`. */
  readonly network?: string | undefined;
  /** The renewal interval of a node's Lease. Defaults to 10 s. */
  readonly heartbeatMs?: number | undefined;
  /** How long the first status of every node may take. Defaults to 30 s. */
  readonly readyTimeoutMs?: number | undefined;
  /**
   * Serves `kubectl logs` with a line that nothing runs; requires an API server on this machine that does not verify kubelet
   * certificates. Defaults to false: the API server finds no endpoint.
   */
  readonly logs?: boolean | undefined;
  /**
   * Provisions volumes: creates the default StorageClass `bowline-local`, and a folder for every claim of a class with the
   * provisioner `node-agent.bowline.dev/local`. One agent of a cluster may do so. Defaults to false.
   */
  readonly volumes?: boolean | undefined;
  /** Where the folders of volumes are created. Defaults to a temporary folder that is removed when the agent stops. */
  readonly volumesFolder?: string | undefined;
  /** Deletes its nodes when it stops, including added ones. Defaults to false. */
  readonly deleteNodes?: boolean | undefined;
  /** The clock for reported times and for the queues. Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** The clock for heartbeats and watches. Defaults to the system clock. */
  readonly wire?: Clock | undefined;
  /** Defaults to Math.random. */
  readonly random?: Random | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
  /** Stops the agent. */
  readonly signal?: AbortSignal | undefined;
}

/** NodeAgent simulates the kubelets of some nodes: nothing is run, but everything is reported as if it were. */
export interface NodeAgent extends Steering, AsyncDisposable {
  readonly name: string;
  /** The names of the nodes that it was started with. */
  readonly nodeNames: readonly string[];
  /** Resolves when the agent has stopped; rejects if it failed. */
  readonly stopped: Promise<void>;
  /** stop ends everything, and deletes the nodes if configured to. */
  stop(): Promise<void>;
}

/** The maximum that Kubernetes supports. */
const MAX_NODES = 5_000;

/**
 * startNodeAgent registers nodes and manages the Pods on them, on any control plane. It resolves when the nodes have reported
 * that they are ready.
 *
 * @example
 * await using agent = await startNodeAgent({ client, nodes: 2 });
 * await using _ = await agent.pods.crash({ namespace: 'demo', selector: 'app=web' });
 */
export async function startNodeAgent(options: NodeAgentOptions): Promise<NodeAgent> {
  const { client, name = DEFAULT_AGENT, wire = systemClock, clock = systemClock, signal } = options;
  const problems = rememberProblem(options.log ?? silentLog);
  const templates = templatesOf(options, name);
  const addresses = addressesOf(options.network ?? '10.244.0.0/16');
  if (options.volumes) await registerStorageClass(client, signal);
  for (const template of templates) await register(client, name, template, signal);
  // Controllers are most of the code, and many programs that can start an agent do not start one.
  const { agentManager } = await import('./agent-manager.ts');
  const logServer = options.logs ? await startLogServer() : undefined;
  const folders = options.volumes ? new VolumeFolders(options.volumesFolder) : undefined;

  const awaited = new Set(templates.map((template) => template.name));
  const stop = new AbortController();
  const end = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  setMaxListeners(0, end);
  const heartbeatMs = options.heartbeatMs ?? 10_000;
  let running: Promise<void> = Promise.resolve();
  const reported = new Promise<void>((resolve) => {
    const onReported = (node: string): void => {
      if (awaited.delete(node) && awaited.size === 0) resolve();
    };
    if (awaited.size === 0) resolve();
    const parts = { name, wire, heartbeatMs, addresses, logPort: logServer?.port, folders, onReported };
    const manager = agentManager(parts, {
      clientFor: () => client,
      clock,
      wire,
      random: options.random,
      log: problems.log,
    });
    running = manager.run(end);
  });
  const untilStopped = async (): Promise<void> => {
    try {
      await running;
    } finally {
      await logServer?.[Symbol.asyncDispose]();
      await folders?.[Symbol.asyncDispose]();
    }
    if (options.deleteNodes) await unregister(client, name);
  };
  const stopped = untilStopped();
  // A caller of `stop` sees the error; without one it must not become an unhandled rejection.
  stopped.catch(() => undefined);
  const stopAgent = (): Promise<void> => {
    stop.abort();
    return stopped;
  };
  try {
    await untilReported({ reported, stopped, awaited, problems, wire, timeoutMs: options.readyTimeoutMs ?? 30_000 });
  } catch (error) {
    await stopAgent();
    throw error;
  }
  return {
    name,
    nodeNames: templates.map((template) => template.name),
    ...steering(client, { agent: name, clock }),
    stopped,
    stop: stopAgent,
    [Symbol.asyncDispose]: stopAgent,
  };
}

async function untilReported(parts: {
  readonly reported: Promise<void>;
  readonly stopped: Promise<void>;
  readonly awaited: ReadonlySet<string>;
  readonly problems: LastProblem;
  readonly wire: Clock;
  readonly timeoutMs: number;
}): Promise<void> {
  const { reported, stopped, awaited, problems, wire, timeoutMs } = parts;
  const problem = (what: string): BowlineError =>
    new BowlineError(
      'BOWLINE_NODE_AGENT_START',
      `the node agent ${what} before these nodes had reported: ${[...awaited].join(', ')} (${problems.message() ?? 'no error so far'}); check that the API server responds and that the agent has the permissions of nodeAgentRbac`,
    );
  const settled = new AbortController();
  const late = wire.sleep(timeoutMs, settled.signal).then(() => {
    throw problem(`was not ready after ${timeoutMs} ms,`);
  });
  const ended = stopped.then(() => {
    throw problem('was stopped');
  });
  try {
    await Promise.race([reported, late, ended]);
  } finally {
    settled.abort();
    late.catch(() => undefined);
    ended.catch(() => undefined);
  }
}

/** registerStorageClass creates the default class once: what its users change stays. */
async function registerStorageClass(client: Client, signal?: AbortSignal): Promise<void> {
  await client.create(StorageClass, localStorageClass(), { signal }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

/** register creates a Node, or finds it as an earlier run of this agent left it. */
async function register(client: Client, agent: string, template: NodeTemplate, signal?: AbortSignal): Promise<void> {
  const { name } = template;
  for (;;) {
    try {
      await client.create(Node, nodeObject(agent, template), { signal });
      return;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    const found = await client.find(Node, { name }, { signal });
    if (found?.metadata?.labels?.[AGENT_LABEL] === agent) return;
    // Undefined: it was deleted meanwhile, for example by an agent that stops.
    if (found === undefined) continue;
    throw new BowlineError(
      'BOWLINE_NODE_AGENT_FOREIGN_NODE',
      `cannot simulate the node ${name}: it exists and is not labelled ${AGENT_LABEL}=${agent}; choose another name`,
    );
  }
}

async function unregister(client: Client, agent: string): Promise<void> {
  const { items } = await client.list(Node, { labelSelector: `${AGENT_LABEL}=${agent}` });
  for (const node of items) {
    await client.delete(Node, { name: node.metadata?.name ?? '' }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}

function templatesOf({ nodes = 1, labels }: NodeAgentOptions, agent: string): readonly NodeTemplate[] {
  const [problem] = agent === '' ? ['it is empty'] : labelValueProblems(agent);
  if (problem !== undefined) refuse(`the name "${agent}" must be a label value: ${problem}`);
  if (typeof nodes === 'number') {
    if (!Number.isInteger(nodes) || nodes < 0 || nodes > MAX_NODES) {
      refuse(`nodes must be an integer from 0 to ${MAX_NODES}, not ${nodes}`);
    }
    return Array.from({ length: nodes }, (_, index) => ({ name: `${agent}-${index + 1}`, labels }));
  }
  const templates = nodes.map((node) => (typeof node === 'string' ? { name: node } : node));
  const names = new Set(templates.map((template) => template.name));
  if (names.size < templates.length) refuse('two of its nodes have the same name');
  return templates.map((template) => ({ ...template, labels: { ...labels, ...template.labels } }));
}

function addressesOf(network: string): Addresses {
  try {
    return new Addresses(network);
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(problem: string): never {
  throw new BowlineError('BOWLINE_NODE_AGENT_OPTIONS', `cannot start a node agent: ${problem}`);
}
