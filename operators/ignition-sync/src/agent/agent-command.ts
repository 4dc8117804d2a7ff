import { command } from '@bowline/runtime';
import type { Command } from '@bowline/runtime/manager';
import { s } from '@bowline/runtime/resource';

const text = () => s.string().minLength(1).maxLength(4096);
const address = (port: number) => text().default(`:${port}`);

/** Where the injected container has its volumes. */
const MOUNTS = '/ignition-sync';

const options = s.object({
  cr: text().maxLength(253).describe('The IgnitionSync.'),
  podName: text().maxLength(253).describe('The pod of the gateway.'),
  podNamespace: text().maxLength(63).describe('The namespace of the pod and of the IgnitionSync.'),
  gatewayName: text().maxLength(512).describe('The name of the gateway.'),
  repo: text().describe('The repository. Credentials are sent to its scheme, host and port only.'),
  dataFolder: text().default('/ignition-data').describe('The data folder of the gateway.'),
  repoFolder: text().default(`${MOUNTS}/repo`).describe('The folder for objects of Git, which agents may share.'),
  scratchFolder: text().default(`${MOUNTS}/scratch`).describe('A folder in memory for credentials in use.'),
  apiKeyFile: text().default(`${MOUNTS}/api-key/api-key`).describe('The file with the API key of the gateway.'),
  gitTokenFile: text().describe('The file with the token for the Git server.').optional(),
  gitSshKeyFile: text().describe('The file with the SSH key for the Git server.').optional(),
  knownHostsFile: text().describe('The file with the SSH host keys of the Git server.').optional(),
  caFile: text().describe('The file with the certificate authorities of the Git server.').optional(),
  s3CredentialsFolder: text()
    .describe('The folder with access-key-id and secret-access-key, for snapshots in S3.')
    .optional(),
  gatewayPort: s.integer('int32').min(1).max(65_535).default(8043).describe('The port of the gateway.'),
  gatewayTls: s.boolean().default(true).describe('Whether the gateway serves HTTPS on this port.'),
  localGatewayPort: s
    .integer('int32')
    .min(1)
    .max(65_535)
    .describe(
      'The port of the gateway where several gateways share a machine. It takes precedence over that of the IgnitionSync.',
    )
    .optional(),
  syncPeriod: s
    .integer('int32')
    .min(1)
    .max(3600)
    .default(30)
    .describe('How often the desired state is compared besides each change, in seconds.'),
  podInfoFolder: text().describe('The folder with the files labels and annotations of the pod.').optional(),
  healthAddress: address(8082).describe('The address of /healthz, /readyz and /startupz.'),
  metricsAddress: address(8083).describe('The address of /metrics.'),
});

/** agentCommand is `bowline ignition-sync agent`, the process of the sidecar of a gateway. */
export const agentCommand: Command = command({
  name: 'agent',
  summary: 'Keeps the files of the gateway in its pod at the commit that an IgnitionSync describes.',
  options,
  // In a pod, the gateway has the ports of the pod for itself.
  flags: { localGatewayPort: { hidden: true } },
  cluster: true,
  longRunning: true,
  run: async ({ options: given, cluster: { client }, log, signal }) => {
    // Loaded here, because the manager has the same commands and needs none of it.
    const { runAgent } = await import('./run-agent.ts');
    const onListening = (ports: object): void => log.info('serving probes and metrics', { ...ports });
    await runAgent(given, { client, log, signal, onListening });
  },
});
