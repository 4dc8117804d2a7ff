// The command line of the agent, for tests that end it at a step of a sync. It is the shipped command, but for the step.
import { runProgram } from '../../../../apps/bowline/src/program.ts';
import { processIo } from '../../../../apps/bowline/src/terminal/io.ts';
import { agentCommand } from '../agent/agent-command.ts';
import { type AgentOptions, runAgent } from '../agent/run-agent.ts';
import type { SyncStep } from '../engine/sync/sync-request.ts';

const { AGENT_STOPS_AT = '' } = process.env;
const [step = '', signal = 'SIGKILL', count = '1'] = AGENT_STOPS_AT.split(' ');
let seen = 0;

function onStep(reached: SyncStep): void {
  if (reached === step && ++seen === Number(count)) process.kill(process.pid, signal);
}

const command = {
  ...agentCommand,
  run: (context: Parameters<typeof agentCommand.run>[0]) => {
    // The program passes what the declaration of the command requires.
    const {
      options,
      cluster,
      log,
      signal: stop,
    } = context as never as {
      readonly options: AgentOptions;
      readonly cluster: { readonly client: Parameters<typeof runAgent>[1]['client'] };
      readonly log: Parameters<typeof runAgent>[1]['log'];
      readonly signal: AbortSignal;
    };
    return runAgent(options, { client: cluster.client, log, signal: stop, onStep });
  },
};
const registry = {
  'ignition-sync': {
    summary: 'Ignition Sync',
    load: () => Promise.reject(new Error('only the agent is needed')),
    commands: { agent: async () => command },
  },
};
process.exitCode = await runProgram(process.argv.slice(2), registry, processIo, process.argv[1]);
