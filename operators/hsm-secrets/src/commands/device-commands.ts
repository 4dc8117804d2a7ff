import { BowlineError, command } from '@bowline/runtime';
import type { Command } from '@bowline/runtime/manager';
import { s } from '@bowline/runtime/resource';
import { type ApiResponse, apiOptions, connectApi, PARTIAL } from './api-client.ts';

interface ListedDevice {
  readonly serialNumber?: string;
  readonly nodeName: string;
  readonly available: boolean;
  readonly health: string;
  readonly role?: string;
  readonly agentReady: boolean;
  readonly reason?: string;
}

const devices = command({
  name: 'devices',
  summary: 'Lists the physical devices of an HSMDevice.',
  options: s.object(apiOptions),
  output: {
    columns: [
      { name: 'Serial', value: (device: ListedDevice) => device.serialNumber ?? '' },
      { name: 'Node', value: ({ nodeName }) => nodeName },
      { name: 'Available', value: ({ available }) => (available ? 'yes' : 'no') },
      { name: 'Health', value: ({ health }) => health },
      { name: 'Role', value: ({ role }) => role },
      { name: 'Agent', value: ({ agentReady, reason }) => (agentReady ? 'ready' : (reason ?? 'none')) },
    ],
    empty: 'There are no devices.',
  },
  cluster: true,
  run: async ({ options, cluster, signal }) => {
    const api = await connectApi(cluster, options, signal);
    const { data } = await api.call({ method: 'GET', path: 'hsm/info' });
    // What the API of the same version returns.
    return (data.devices ?? []) as readonly ListedDevice[];
  },
});

interface DeviceHealth {
  readonly serialNumber: string;
  readonly nodeName: string;
  readonly healthy: boolean;
  readonly reason?: string;
  readonly message?: string;
}

const health = command({
  name: 'health',
  summary: 'Asks each device whether it can be used.',
  options: s.object(apiOptions),
  output: {
    columns: [
      { name: 'Serial', value: (device: DeviceHealth) => device.serialNumber },
      { name: 'Node', value: ({ nodeName }) => nodeName },
      { name: 'Healthy', value: ({ healthy }) => (healthy ? 'yes' : 'no') },
      { name: 'Reason', value: ({ reason }) => reason },
      { name: 'Message', value: ({ message }) => message },
    ],
    empty: 'There are no devices.',
  },
  cluster: true,
  run: async ({ options, cluster, signal }) => {
    const api = await connectApi(cluster, options, signal);
    const { data } = await api.call({ method: 'GET', path: 'hsm/status' });
    return (data.devices ?? []) as readonly DeviceHealth[];
  },
});

const mirrorSync = command({
  name: 'mirror sync',
  summary: 'Compares all devices now, and makes them equal.',
  options: s.object({
    ...apiOptions,
    force: s.boolean().default(false).describe('Also secrets that may be being written at the moment.'),
  }),
  cluster: true,
  run: async ({ options, cluster, print, signal }) => {
    const api = await connectApi(cluster, options, signal);
    const { force } = options;
    print(completeMessage(await api.call({ method: 'POST', path: 'hsm/mirror/sync', body: { force } })));
  },
});

const rotatePin = command({
  name: 'rotate-pin',
  summary: 'Changes the PIN of all devices of an HSMDevice, and its PIN Secret.',
  options: s.object(apiOptions),
  inputs: { pin: { summary: 'the new PIN', prompt: 'New PIN', maxBytes: 255 } },
  cluster: true,
  run: async ({ options, inputs, cluster, print, signal }) => {
    const api = await connectApi(cluster, options, signal);
    const body = { newPin: inputs.pin.toString('utf8') };
    print(completeMessage(await api.call({ method: 'POST', path: 'hsm/change-pin', body })));
  },
});

const retryPin = command({
  name: 'retry-pin',
  summary: 'Lets each device try the PIN of the PIN Secret once more. A wrong PIN may lock the device.',
  options: s.object(apiOptions),
  cluster: true,
  run: async ({ options, cluster, print, signal }) => {
    const api = await connectApi(cluster, options, signal);
    print(completeMessage(await api.call({ method: 'POST', path: 'hsm/retry-pin', body: {} })));
  },
});

/** completeMessage returns the message of a response, unless only some of the devices did what was requested. */
function completeMessage({ status, message }: ApiResponse): string {
  if (status !== PARTIAL) return message;
  throw new BowlineError('BOWLINE_HSM_API_PARTIAL', message);
}

/** deviceCommands show devices and work on them. */
export const deviceCommands: readonly Command[] = [devices, health, mirrorSync, rotatePin, retryPin];
