import { setMaxListeners } from 'node:events';
import { Node } from '@bowline/kubernetes';
import { type Clock, labelValueProblems, type Random, systemClock } from '@bowline/machinery';
import { BowlineError, type Client, isAlreadyExists, isNotFound, type Log, silentLog } from '@bowline/runtime';
import { Addresses } from './addresses.ts';
import { AGENT_LABEL } from './behaviour.ts';
import { type LastProblem, rememberProblem } from './last-problem.ts';
import { startLogServer } from './log-server.ts';
import { DEFAULT_AGENT, type NodeTemplate, nodeObject } from './node-object.ts';
import { type Steering, steering } from './steer.ts';

/** NodeAgentOptions describe a node agent. */
export interface NodeAgentOptions {
  /** Whom the agent acts as; `nodeAgentRbac` says what that one must be allowed. Not closed by the agent. */
  readonly client: Client;
  /** Its nodes, or how many (`<name>-1`, `<name>-2`, …). Defaults to 1. More can be added while it runs. */
  readonly nodes?: number | readonly (string | NodeTemplate)[] | undefined;
  /** Tells its nodes apart from those of others: the value of their label. Defaults to `bowline`. */
  readonly name?: string | undefined;
  /** Labels of every node it makes. Defaults to those that every node has. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** The IPv4 network that nodes and Pods get addresses of; nothing listens there. Defaults to `10.244.0.0/16`. */
  readonly network?: string | undefined;
  /** How often a node's Lease is renewed. Defaults to 10 s. */
  readonly heartbeatMs?: number | undefined;
  /** How long the first status of every node may take. Defaults to 30 s. */
  readonly readyTimeoutMs?: number | undefined;
  /**
   * Answer `kubectl logs`, with a line that says that nothing runs: needs an API server on this machine that does not check
   * kubelets' certificates. Defaults to false: the API server finds nobody to ask.
   */
  readonly logs?: boolean | undefined;
  /** Delete its nodes when it stops, those that were added included. Defaults to false. */
  readonly deleteNodes?: boolean | undefined;
  /** Stamps what Pods and Nodes report, and times the queues. Defaults to the system's. */
  readonly clock?: Clock | undefined;
  /** Times heartbeats and watches. Defaults to the system's. */
  readonly wire?: Clock | undefined;
  /** Defaults to the system's. */
  readonly random?: Random | undefined;
  /** Defaults to silence. */
  readonly log?: Log | undefined;
  /** Stops the agent. */
  readonly signal?: AbortSignal | undefined;
}

/** NodeAgent plays the kubelets of some nodes: nothing is run, everything is reported as if it were. */
export interface NodeAgent extends Steering, AsyncDisposable {
  readonly name: string;
  /** The names of the nodes that it was started with. */
  readonly nodeNames: readonly string[];
  /** Settles when the agent has stopped; rejects when it had to. */
  readonly stopped: Promise<void>;
  /** stop ends everything, and deletes the nodes if the options say so. */
  stop(): Promise<void>;
}

/** As many as Kubernetes supports. */
const MOST_NODES = 5_000;

/**
 * startNodeAgent registers nodes and looks after the Pods on them, on any control plane. Resolves when the nodes have
 * reported that they are ready.
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
  for (const template of templates) await register(client, name, template, signal);
  // Controllers are most of the code, and many programs that can start an agent do not.
  const { agentManager } = await import('./agent-manager.ts');
  const logServer = options.logs ? await startLogServer() : undefined;

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
    const parts = { name, wire, heartbeatMs, addresses, logPort: logServer?.port, onReported };
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
    }
    if (options.deleteNodes) await unregister(client, name);
  };
  const stopped = untilStopped();
  // Whoever stops the agent learns of it; without anybody it must not end the process.
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
      `the node agent ${what} before these nodes had reported: ${[...awaited].join(', ')} (${problems.message() ?? 'nothing has failed so far'}); check that the API server answers and that the agent has the rights of nodeAgentRbac`,
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

/** register makes a Node, or finds it as an earlier run of this agent left it. */
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
    // Undefined: somebody deleted it meanwhile, an agent that stops for instance.
    if (found === undefined) continue;
    throw new BowlineError(
      'BOWLINE_NODE_AGENT_FOREIGN_NODE',
      `cannot play the node ${name}: it exists and is not labelled ${AGENT_LABEL}=${agent}; choose another name`,
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
    if (!Number.isInteger(nodes) || nodes < 0 || nodes > MOST_NODES) {
      refuse(`nodes must be a whole number from 0 to ${MOST_NODES}, not ${nodes}`);
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
