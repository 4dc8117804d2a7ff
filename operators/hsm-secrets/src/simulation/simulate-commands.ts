import { Secret } from '@bowline/kubernetes';
import { BowlineError, command } from '@bowline/runtime';
import type { Command, CommandCluster } from '@bowline/runtime/manager';
import { deviceEntry, SIMULATION_SECRET, type SimulatedDevice, simulatedDevices } from './simulation-secret.ts';

const serial = { summary: 'the serial number of the device', example: 'DC6A33145E23A42A' };

const list = command({
  name: 'simulate list',
  summary: 'Lists the simulated devices.',
  output: {
    columns: [
      { name: 'Serial', value: (device: SimulatedDevice) => device.serialNumber },
      { name: 'Node', value: ({ nodeName }) => nodeName },
      { name: 'Plugged', value: ({ isPlugged }) => (isPlugged ? 'yes' : 'no') },
    ],
    empty: 'There are no simulated devices.',
  },
  cluster: true,
  run: async ({ cluster, signal }) => await readDevices(cluster, signal),
});

const plug = command({
  name: 'simulate plug',
  summary: 'Plugs a simulated device into a node. A device that does not exist yet is created.',
  args: {
    serial,
    node: { summary: 'the node (default: the one where it was last)', example: 'bowline-1', optional: true },
  },
  cluster: true,
  run: async ({ args, cluster, print, signal }) => {
    const devices = await readDevices(cluster, signal);
    const known = devices.find(({ serialNumber }) => serialNumber === args.serial);
    const nodeName = args.node ?? known?.nodeName;
    if (nodeName === undefined) throw unknownDevice(args.serial, 'name a node to create it');
    if (!/^[-._a-zA-Z0-9]{1,128}$/.test(args.serial))
      throw new BowlineError(
        'BOWLINE_ARGUMENT_INVALID',
        'cannot plug the device: a serial number has at most 128 letters, digits, dashes, dots and underscores',
      );
    await write(cluster, { serialNumber: args.serial, nodeName, isPlugged: true }, signal);
    print(`${args.serial} is plugged into ${nodeName}`);
  },
});

const unplug = command({
  name: 'simulate unplug',
  summary: 'Unplugs a simulated device.',
  args: { serial },
  cluster: true,
  run: async ({ args, cluster, print, signal }) => {
    const devices = await readDevices(cluster, signal);
    const known = devices.find(({ serialNumber }) => serialNumber === args.serial);
    if (!known) throw unknownDevice(args.serial, 'list the devices with `bowline hsm-secrets simulate list`');
    await write(cluster, { ...known, isPlugged: false }, signal);
    print(`${args.serial} is unplugged from ${known.nodeName}; its pool removes it after the grace period`);
  },
});

/** simulateCommands change the devices of the simulation: `bowline hsm-secrets simulate list|plug|unplug`. */
export const simulateCommands: readonly Command[] = [list, plug, unplug];

async function readDevices(cluster: CommandCluster, signal: AbortSignal): Promise<readonly SimulatedDevice[]> {
  const { client, namespace } = cluster;
  const secret = await client.find(Secret, { namespace, name: SIMULATION_SECRET }, { signal });
  if (secret) return simulatedDevices(secret);
  throw new BowlineError(
    'BOWLINE_HSM_SIMULATION_ABSENT',
    `there is no simulation: the Secret ${namespace}/${SIMULATION_SECRET} does not exist; start \`bowline up\`, or name the namespace of its manager with --namespace`,
  );
}

/** The entry of a device is the user's to write; other entries, such as tokens, belong to the manager. */
async function write(
  { client, namespace }: CommandCluster,
  device: SimulatedDevice,
  signal: AbortSignal,
): Promise<void> {
  const [entry, value] = deviceEntry(device);
  const body = { data: { [entry]: value } };
  await client.patch(Secret, { namespace, name: SIMULATION_SECRET }, { type: 'merge', body }, { signal });
}

function unknownDevice(serialNumber: string, remedy: string): BowlineError {
  return new BowlineError('BOWLINE_HSM_SIMULATION_DEVICE', `there is no simulated device ${serialNumber}; ${remedy}`);
}
