import { command, type Log } from '@bowline/runtime';
import type { Command } from '@bowline/runtime/manager';
import { s } from '@bowline/runtime/resource';
import { MAX_DEVICE_NAME_LENGTH } from '../api/names.ts';
import { LISTEN_ADDRESS } from '../processes/listen.ts';
import { runTogether } from '../processes/run-together.ts';
import { serveHealth } from '../processes/serve-health.ts';
import type { FoundDevice } from './found-device.ts';
import { HostDevices } from './host-devices.ts';
import { runDiscovery } from './run-discovery.ts';

/** DeviceConsumer uses the devices of the node, such as a device plugin of the kubelet. */
export interface DeviceConsumer {
  /** update is called with all devices when they have changed; the first time when the first search has ended. */
  update(devices: readonly FoundDevice[]): void;
  /** run works until the signal is aborted, and resolves when everything has stopped. An error ends the process. */
  run(signal: AbortSignal): Promise<void>;
}

/** ConsumerContext describes the HSMDevice whose devices are consumed. */
export interface ConsumerContext {
  readonly namespace: string;
  /** The name of the HSMDevice. */
  readonly device: string;
  readonly log: Log;
}

/** DiscoveryCommandOptions configures the command. */
export interface DiscoveryCommandOptions {
  /** Returns what else uses the devices. Not called in test mode. Defaults to nothing. */
  readonly consumer?: ((context: ConsumerContext) => DeviceConsumer) | undefined;
}

const path = (place: string) => s.string().minLength(1).default(place);

const options = s.object({
  device: s.dnsLabel().maxLength(MAX_DEVICE_NAME_LENGTH).describe('The HSMDevice whose devices are searched.'),
  sysfs: path('/sys').describe('Where /sys of the node is mounted.'),
  dev: path('/dev').describe('Where /dev of the node is mounted.'),
  run: path('/run').describe('Where /run of the node is mounted.'),
  podName: s.string().minLength(1).describe('The pod that carries the report.'),
  podNamespace: s.string().minLength(1).describe('The namespace of the pod and of the HSMDevice.'),
  nodeName: s.string().minLength(1).describe('The node of the pod.'),
  healthListen: s
    .string()
    .pattern(LISTEN_ADDRESS)
    .default(':8093')
    .describe('The address of /livez, host:port or :port.'),
  testMode: s.boolean().default(false).describe('The pod has no access to the node: offer no devices to the kubelet.'),
});

/**
 * discoveryCommand returns `bowline hsm-secrets discovery`, the process of the discovery pods. It runs until it is
 * stopped; the report then stays, and the pool decides how long it counts.
 */
export function discoveryCommand({ consumer }: DiscoveryCommandOptions = {}): Command {
  return command({
    name: 'discovery',
    summary: 'Searches a node for the devices of an HSMDevice, and reports them in the annotation of its pod.',
    options,
    flags: {
      podName: { env: 'POD_NAME' },
      podNamespace: { env: 'POD_NAMESPACE' },
      nodeName: { env: 'NODE_NAME' },
    },
    cluster: true,
    longRunning: true,
    run: async ({ options: given, cluster: { client }, log, signal }) => {
      const { device, sysfs, dev, run, podName, podNamespace: namespace, nodeName, healthListen: address } = given;
      const pod = { namespace, name: podName };
      const consuming = given.testMode ? undefined : consumer?.({ namespace, device, log });
      const source = new HostDevices({ sysfs, dev, run, log });
      const onDevices = consuming && ((devices: readonly FoundDevice[]) => consuming.update(devices));
      const onListening = (port: number): void => log.info('serving /livez', { port });
      const checks = { '/livez': () => undefined };
      await runTogether(signal, [
        (end) => serveHealth({ address, flag: '--health-listen', checks, onListening }, end),
        (end) => runDiscovery({ client, device, pod, nodeName, source, log, onDevices, signal: end }),
        ...(consuming ? [(end: AbortSignal) => consuming.run(end)] : []),
      ]);
    },
  });
}
