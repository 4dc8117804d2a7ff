import { createInterface } from 'node:readline';
import { bundledProgram } from '../../../../test/support/bundled-program.ts';
import type { SyncStep } from '../engine/sync/sync-request.ts';
import { runSidecar, type SidecarEnd } from '../local/run-sidecar.ts';
import type { PreparedSidecar } from '../local/sidecar/prepare-sidecar.ts';
import { type AgentClock, advancing } from './agent-clock.test-support.ts';

/** LogLine is a line of an agent's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** AgentHooks is what an agent's process does differently from the shipped command. */
export interface AgentHooks {
  /** When its clock starts; time then passes only as the parent process advances it. Defaults to the clock of the system. */
  readonly clockStartMs?: number | undefined;
  /** The free bytes of every volume. Defaults to what the system reports. */
  readonly freeBytes?: number | undefined;
  /** The step of a sync at which it sends itself a signal, the first or a later time. Defaults to none. */
  readonly stopsAt?: { readonly step: SyncStep; readonly signal: NodeJS.Signals; readonly count?: number } | undefined;
  /** Whether it lists before it watches, as with API servers that cannot stream lists. Defaults to false. */
  readonly withoutStreaming?: boolean | undefined;
}

/** AgentProcessOptions configures the process of an agent. */
export interface AgentProcessOptions extends Omit<AgentHooks, 'clockStartMs'> {
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
  /** stop ends it as a kubelet does, and rejects if it does not exit with 0. */
  stop(): Promise<void>;
}

const SERVING = 'serving probes and metrics';

/** startAgent starts the agent of a pod, and resolves when it serves its probes, or has ended. */
export async function startAgent(sidecar: PreparedSidecar, options: AgentProcessOptions): Promise<AgentProcess> {
  const { clock, onLine, ...others } = options;
  const hooks: AgentHooks = { ...others, clockStartMs: clock?.now() };
  const program = await bundledProgram('operators/ignition-sync/src/scenarios/agent-program.test-support.ts');
  const running = runSidecar(
    { ...sidecar, env: { ...sidecar.env, AGENT_HOOKS: JSON.stringify(hooks) } },
    { program: process.execPath, args: [program], hasIpc: clock !== undefined },
  );
  const { child, ended } = running;
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new TypeError('the agent has no output');
  clock?.attach(child);
  // A test that hangs is ended with its worker.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.removeListener('exit', kill));
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
