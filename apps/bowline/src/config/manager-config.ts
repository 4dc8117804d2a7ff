import { type Read, s } from '@bowline/machinery/schema';
import { installConfig } from '../install/install-config.ts';

const LISTEN = "self in ['', '0'] || self.matches('^([^:]*:|\\\\[[0-9a-fA-F:.]+\\\\]:)?[0-9]{1,5}$')";

function address(defaultAddress: string, what: string) {
  return s
    .string()
    .maxLength(260)
    .default(defaultAddress)
    .rule(LISTEN, { message: 'must be host:port, :port, or 0 to disable it' })
    .describe(what);
}

function duration(defaultValue: string, what: string) {
  return s.duration().default(defaultValue).describe(what);
}

const logging = s
  .object({
    level: s.enum(['debug', 'info', 'warn', 'error']).default('info').describe('The lowest level that is logged.'),
    format: s
      .enum(['json', 'text'])
      .optional()
      .describe(
        'The format of the log: one JSON object per line, or readable text. By default json in a pod, text elsewhere.',
      ),
  })
  .default({});

const metrics = s
  .object({
    address: address(':8080', 'The address of /metrics: host:port, :port, or 0 to disable it.'),
    secure: s
      .boolean()
      .default(false)
      .describe('Serve metrics over HTTPS, and only to clients whose token is allowed to get the URL /metrics.'),
    certificateFolder: s
      .string()
      .minLength(1)
      .maxLength(4096)
      .optional()
      .describe(
        'The folder with tls.crt and tls.key for secure metrics. By default a self-signed certificate is generated at every start.',
      ),
  })
  .default({});

const certificates = s
  .object({
    kind: s
      .enum(['managed', 'secret', 'files'])
      .default('managed')
      .describe(
        'managed: issued and renewed by the manager. secret, files: managed externally, for example by cert-manager.',
      ),
    name: s
      .dnsSubdomain()
      .optional()
      .describe("For kind secret: the Secret with tls.crt and tls.key, in the manager's namespace."),
    folder: s
      .string()
      .minLength(1)
      .maxLength(4096)
      .optional()
      .describe('For kind files: the folder with tls.crt and tls.key.'),
    inject: s
      .boolean()
      .default(false)
      .describe('For kinds secret and files: write the ca.crt next to tls.crt into the webhook configurations.'),
  })
  .rule("self.kind != 'secret' || has(self.name)", { message: 'kind secret requires name, the name of the Secret' })
  .rule("self.kind != 'files' || has(self.folder)", { message: 'kind files requires folder' })
  .default({ kind: 'managed' });

const webhook = s
  .object({
    address: address(':9443', 'The address of the webhooks of all operators: host:port or :port.'),
    reachedAt: s
      .string()
      .maxLength(2048)
      .optional()
      .rule("self in ['service', 'loopback'] || self.startsWith('https://')", {
        message: 'must be service, loopback, or a URL that starts with https://',
      })
      .describe(
        'How the API server reaches the webhooks: service (the Service <operator>-webhook), loopback, or a URL. By default service, or loopback outside of a pod if the API server has a loopback address.',
      ),
    configurations: s
      .enum(['chart', 'runtime'])
      .optional()
      .describe(
        'Who creates the webhook configurations: chart (they are applied with the manifests; the manager only sets caBundle) or runtime (the manager). By default runtime if the API server has a loopback address and reachedAt is not set, else chart.',
      ),
    certificates,
  })
  .default({});

const leaderElection = s
  .object({
    enabled: s
      .boolean()
      .default(true)
      .describe('Whether to elect a leader among the replicas. Set it to false only if there is a single process.'),
    leaseDuration: duration(
      '15s',
      'How long other replicas wait after the last observed renewal before they take over.',
    ),
    renewDeadline: duration('10s', 'How long the leader tries to renew the Lease before it stops.'),
    retryPeriod: duration('2s', 'How often the leader renews the Lease, and the other replicas check it.'),
  })
  // The same checks as in the elector, but with messages that name the settings.
  .rule("self.leaseDuration >= duration('1s')", { message: 'must be at least 1s', fieldPath: '.leaseDuration' })
  .rule("self.leaseDuration - self.renewDeadline >= duration('500ms')", {
    message:
      'must be at least 500ms less than leaseDuration, so that a write that has started ends before another replica takes over',
    fieldPath: '.renewDeadline',
  })
  .rule('self.renewDeadline.getMilliseconds() * 10 > self.retryPeriod.getMilliseconds() * 12', {
    message: 'must be less than renewDeadline / 1.2, otherwise a single late renewal loses the Lease',
    fieldPath: '.retryPeriod',
  })
  .default({ enabled: true, leaseDuration: '15s', renewDeadline: '10s', retryPeriod: '2s' });

/**
 * managerConfig is the schema of the part of bowline.yaml that belongs to no operator. Each operator adds a section
 * under its name.
 */
export const managerConfig = s.object({
  operators: s
    .array(s.dnsLabel())
    .minItems(1)
    .maxItems(100)
    .listType('set')
    .optional()
    .describe('The operators to run.'),
  namespace: s
    .dnsLabel()
    .optional()
    .describe(
      "The manager's namespace, which contains its Leases. By default the pod's namespace, else bowline-system.",
    ),
  namespaces: s
    .array(s.dnsLabel())
    .minItems(1)
    .maxItems(1000)
    .listType('set')
    .optional()
    .describe('Work only in these namespaces, without cluster-wide permissions.'),
  logging,
  health: s
    .object({
      address: address(
        ':8081',
        'The address of /livez, /readyz, /startupz and /healthz: host:port, :port, or 0 to disable them.',
      ),
    })
    .default({}),
  metrics,
  webhook,
  leaderElection,
  scratchFolder: s
    .string()
    .minLength(1)
    .maxLength(4096)
    .rule("self.startsWith('/')", { message: 'must be an absolute path' })
    .optional()
    .describe(
      'The folder for temporary files of operators that need one, which is kept when the process exits. By default a temporary folder that is removed; in an install /var/lib/bowline, with an empty volume for each operator.',
    ),
  drainTimeout: duration('30s', 'How long running reconciles may continue after SIGTERM.'),
  install: installConfig.optional(),
});

/** ManagerConfig is the value that managerConfig reads, with defaults filled in. */
export type ManagerConfig = Read<typeof managerConfig>;

/**
 * settingFlags holds the flags of the settings that belong to no operator: each with the path of its field in
 * bowline.yaml, whose schema defines the values of the flag and its help text.
 */
export const settingFlags = {
  operators: 'operators',
  namespace: 'namespace',
  namespaces: 'namespaces',
  'log-level': 'logging.level',
  'log-format': 'logging.format',
  'health-address': 'health.address',
  'metrics-address': 'metrics.address',
  'metrics-secure': 'metrics.secure',
  'metrics-certificate-folder': 'metrics.certificateFolder',
  'webhook-address': 'webhook.address',
  'webhook-reached-at': 'webhook.reachedAt',
  'webhook-configurations': 'webhook.configurations',
  'leader-elect': 'leaderElection.enabled',
  'lease-duration': 'leaderElection.leaseDuration',
  'renew-deadline': 'leaderElection.renewDeadline',
  'retry-period': 'leaderElection.retryPeriod',
  'scratch-folder': 'scratchFolder',
  'drain-timeout': 'drainTimeout',
} as const;
