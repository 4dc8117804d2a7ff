// An operator in a separate process, for the crash proof. It is killed without warning.
import { fileURLToPath } from 'node:url';
import { runUntilSignal } from '@bowline/runtime';
import { connect, createClient } from '@bowline/runtime/client';
import { createLog, Manager } from '@bowline/runtime/manager';
import type { OperatorUnderTest } from './scenario.ts';

/** ChildSettings is what the proof passes to the process. */
export interface ChildSettings {
  /** The scenario whose operator runs. */
  readonly scenario: string;
  readonly server: string;
  readonly ca: string;
  /** The manager's namespace. */
  readonly namespace: string;
}

// The proof has exited: there is nothing left to do.
process.on('disconnect', () => process.exit(1));

const settings = JSON.parse(process.argv[2] ?? '{}') as ChildSettings;
// Written so that the bundler finds all candidates, without loading the rest of a scenario.
const loaded: unknown = await import(`./scenarios/${settings.scenario}/operator.ts`);
const { operator, config } = loaded as OperatorUnderTest;
const log = createLog({ level: 'warn', destination: process.stderr });
const client = createClient({ transport: connect({ server: settings.server, ca: settings.ca }), log });
const manager = new Manager({
  operators: [operator],
  clientFor: () => client,
  config: config === undefined ? {} : { [operator.name]: config },
  namespace: settings.namespace,
  // As in a pod, the folder outlives the process. It is removed with the program.
  scratchFolder: fileURLToPath(new URL('./scratch', import.meta.url)),
  // The Lease of a killed process would have to expire first. That no process writes without the Lease is shown by the election
  // proof; here the next process starts while requests of the previous one may still be in flight.
  leaderElection: false,
  healthAddress: '0',
  metricsAddress: '0',
  webhooksFor: () => ({ address: '127.0.0.1:0' }),
  log,
});
await runUntilSignal((signal) => manager.run(signal));
await client.close();
