// The command line of the agent, for tests that control its clock, its volume, or the step of a sync at which it ends. It is the
// shipped command, except for what the test sets.
import type { Client } from '@bowline/runtime/client';
import { runProgram } from '../../../../apps/bowline/src/program.ts';
import { processIo } from '../../../../apps/bowline/src/terminal/io.ts';
import { wrapClient } from '../../../../test/support/wrap-client.ts';
import { agentCommand } from '../agent/agent-command.ts';
import { type AgentContext, type AgentOptions, runAgent } from '../agent/run-agent.ts';
import type { SyncStep } from '../engine/sync/sync-request.ts';
import { openChannel } from './agent-channel.test-support.ts';

using channel = openChannel(process.env);
let isStopped = false;

function onStep(reached: SyncStep): void {
  const { stopsAt } = channel.hooks;
  if (isStopped || stopsAt?.step !== reached) return;
  isStopped = true;
  process.kill(process.pid, stopsAt.signal);
}

/** withoutWatchList returns a client whose streamed lists the API server refuses, as servers without WatchList do. */
function withoutWatchList(client: Client): Client {
  return wrapClient(client, (wrapped) => ({
    watch: (kind, options) =>
      wrapped.watch(kind, { ...options, ...(options?.sendInitialEvents ? { resourceVersionMatch: undefined } : {}) }),
  }));
}

const command = {
  ...agentCommand,
  run: (context: Parameters<typeof agentCommand.run>[0]) => {
    // The program passes what the declaration of the command requires.
    const { options, cluster, log, signal } = context as never as Pick<AgentContext, 'log' | 'signal'> & {
      readonly options: AgentOptions;
      readonly cluster: { readonly client: Client };
    };
    const { freeBytes, withoutStreaming } = channel.hooks;
    return runAgent(options, {
      ...{ log, signal, onStep, clock: channel.clock },
      client: withoutStreaming ? withoutWatchList(cluster.client) : cluster.client,
      freeBytes: freeBytes === undefined ? undefined : async () => channel.hooks.freeBytes ?? freeBytes,
      onListening: (ports) => log.info('serving probes and metrics', { ...ports }),
    });
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
