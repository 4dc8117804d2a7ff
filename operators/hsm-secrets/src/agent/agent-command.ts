import { command } from '@bowline/runtime';
import type { Command } from '@bowline/runtime/manager';
import { s } from '@bowline/runtime/resource';
import { AGENT_PORT } from '../api/names.ts';
import { LISTEN_ADDRESS } from '../processes/listen.ts';

const text = () => s.string().minLength(1);
const address = (port: number) => s.string().pattern(LISTEN_ADDRESS).default(`:${port}`);

/** HEALTH_PORT is the default port of /livez and /readyz. */
const HEALTH_PORT = 8093;
/** The folder of the volumes of an agent. */
const MOUNTS = '/run/hsm-secrets';

const options = s.object({
  library: text().describe('The path of the PKCS#11 module.'),
  tokenLabel: text().maxLength(32).describe('The label of the token.').optional(),
  serialNumber: text().describe('The serial number of the USB device. Preferred if several tokens match.').optional(),
  slotId: s
    .integer()
    .min(0)
    .describe('The slot of the token, if neither label nor serial number select it.')
    .optional(),
  pinFile: text().default(`${MOUNTS}/pin/pin`).describe('The file with the PIN. It is read whenever it is needed.'),
  tlsFolder: text().default(`${MOUNTS}/tls`).describe('The folder with tls.crt, tls.key and ca.crt, which may change.'),
  stateFolder: text()
    .default(`${MOUNTS}/state`)
    .describe('A folder in memory that outlives a restart, for the record of PINs that the token refused.'),
  listen: address(AGENT_PORT).describe('The address of the gRPC server.'),
  healthListen: address(HEALTH_PORT).describe('The address of /livez and /readyz.'),
  pcscd: s.boolean().default(false).describe('Run pcscd, which smart cards need.'),
  autoProvision: s.boolean().default(false).describe('Initialize the token if it is blank.'),
  soPinFile: text().describe('The file with the PIN of the security officer, for --auto-provision.').optional(),
  pkcs11js: text().describe('The folder of the package pkcs11js.').optional(),
});

/** agentCommand is `bowline hsm-secrets agent`, the process of the agent of one device. */
export const agentCommand: Command = command({
  name: 'agent',
  summary: 'Serves the token of one device to the manager.',
  options,
  flags: {
    library: { env: 'PKCS11_LIBRARY' },
    serialNumber: { env: 'HSM_SERIAL_NUMBER' },
    pkcs11js: { hidden: true },
  },
  longRunning: true,
  run: async ({ options: given, log, signal }) => {
    const { tlsFolder, listen, healthListen, pcscd, ...worker } = given;
    // Loaded here, because the manager has the same commands and needs none of it.
    const { runAgent } = await import('./run-agent.ts');
    await runAgent({ worker, tlsFolder, listen, healthListen, pcscd, log }, signal);
  },
});
