import { createInterface } from 'node:readline';
import { bundledProgram } from '../../../../test/support/bundled-program.ts';
import { runSidecar, type SidecarEnd } from '../local/run-sidecar.ts';
import type { PreparedSidecar } from '../local/sidecar/prepare-sidecar.ts';
import {
  type AgentClock,
  type AgentHooks,
  advancing,
  CLOCK_START,
  changeHooks,
  HOOKS,
} from './agent-channel.test-support.ts';

/** LogLine is a line of an agent's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** AgentProcessOptions configures the process of an agent. */
export interface AgentProcessOptions extends AgentHooks {
  /** The clock of the agent. Defaults to that of the system. */
  readonly clock?: AgentClock | undefined;
  /** Called with each line of its log. */
  readonly onLine: (line: LogLine) => void;
}

/** AgentProcess is an agent in a process of its own. Disposing of it stops it. */
export interface AgentProcess extends AsyncDisposable {
  readonly pid: number;
  readonly ended: Promise<SidecarEnd>;
  /** output returns everything that it has printed. */
  output(): string;
  /** probe returns the status of a probe. */
  probe(path: string): Promise<number>;
  /** metric returns the line of a metric; '' if there is none. */
  metric(line: string): Promise<string>;
  /** change replaces its hooks. The free bytes can be changed if they were set at its start. */
  change(hooks: AgentHooks): Promise<void>;
  /** stop ends it as a kubelet does, and rejects if it does not exit with 0. */
  stop(): Promise<void>;
}

/** AGENT_PROGRAM is the command line of agents with hooks, relative to the repository. */
export const AGENT_PROGRAM = 'operators/ignition-sync/src/scenarios/agent-program.test-support.ts';

const SERVING = 'serving probes and metrics';

/** startAgent starts the agent of a pod, and resolves when it serves its probes, or has ended. */
export async function startAgent(sidecar: PreparedSidecar, options: AgentProcessOptions): Promise<AgentProcess> {
  const { clock, onLine, ...hooks } = options;
  const program = await bundledProgram(AGENT_PROGRAM);
  const env = { [HOOKS]: JSON.stringify(hooks), ...(clock ? { [CLOCK_START]: String(clock.now()) } : {}) };
  const running = runSidecar(
    { ...sidecar, env: { ...sidecar.env, ...env } },
    { program: process.execPath, args: [program], hasIpc: true },
  );
  const { child, ended } = running;
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new TypeError('the agent has no output');
  clock?.attach(child);
  const printed: Buffer[] = [];
  for (const stream of [stdout, stderr]) stream.on('data', (chunk: Buffer) => printed.push(chunk));
  const output = (): string => Buffer.concat(printed).toString();
  let ports: { readonly health?: number; readonly metrics?: number } = {};
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: stdout }).on('line', (text) => {
      const line = JSON.parse(text) as LogLine;
      onLine(line);
      if (line.msg !== SERVING) return;
      ports = line;
      resolve();
    });
    ended.then(() => resolve(), reject);
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    // What the agent still does may wait for its clock.
    const { code, signal } = await (clock === undefined ? running.stop() : advancing(clock, running.stop()));
    if (code !== 0) throw new Error(`the agent ended with ${signal ?? code}:\n${output()}`);
  };
  return {
    pid: child.pid ?? 0,
    ended,
    output,
    stop,
    change: (changed) => changeHooks(child, changed),
    probe: async (path) => {
      const response = await fetch(`http://127.0.0.1:${ports.health}${path}`);
      await response.body?.cancel();
      return response.status;
    },
    metric: async (start) => {
      const text = await (await fetch(`http://127.0.0.1:${ports.metrics}/metrics`)).text();
      return text.split('\n').find((line) => line.startsWith(start)) ?? '';
    },
    [Symbol.asyncDispose]: stop,
  };
}
