import { command } from '@bowline/runtime';
import type { Command } from '@bowline/runtime/manager';
import { s } from '@bowline/runtime/resource';

const path = () => s.string().minLength(1).maxLength(4096);

const options = s.object({
  data: path().describe('The data folder of the gateway. On the first start the gateway is commissioned.'),
  port: s.integer('int32').min(0).max(65_535).default(8043).describe('The port on 127.0.0.1. 0: any free port.'),
  tls: s.boolean().default(true).describe('Serve HTTPS, with a certificate that is generated at each start.'),
  apiKeyFile: path().describe('The file with the API key that the gateway accepts, as name:secret.'),
  journal: path().describe('A file to which each call and each load is appended as a line of JSON.').optional(),
  controlSocket: path()
    .maxLength(100)
    .describe('A Unix socket through which faults are changed: a JSON object in one line.')
    .optional(),
});

/** simulateGatewayCommand is `bowline ignition-sync simulate-gateway`. */
export const simulateGatewayCommand: Command = command({
  name: 'simulate-gateway',
  summary: 'Serves a data folder as an Ignition gateway does, for trials and tests.',
  options,
  longRunning: true,
  run: async ({ options: given, print, log, signal }) => {
    const { data: dataFolder, journal: journalFile, port, tls, apiKeyFile, controlSocket } = given;
    // Loaded here, because the manager has the same commands and needs none of it.
    const { SimulatedGateway } = await import('./simulated-gateway.ts');
    const about = { dataFolder, port, tls, apiKeyFile, journalFile, controlSocket, log };
    const gateway = new SimulatedGateway(about);
    await gateway.run(signal, () => print(`The simulated gateway serves ${dataFolder} at ${gateway.url}`));
  },
});
