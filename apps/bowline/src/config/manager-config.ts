import { type Read, s } from '@bowline/machinery/schema';
import { installConfig } from '../install/install-config.ts';

const LISTEN = "self in ['', '0'] || self.matches('^([^:]*:|\\\\[[0-9a-fA-F:.]+\\\\]:)?[0-9]{1,5}$')";

function address(defaultAddress: string, what: string) {
  return s
    .string()
    .maxLength(260)
    .default(defaultAddress)
    .rule(LISTEN, { message: 'write host:port, :port, or 0 for none' })
    .describe(what);
}

function duration(defaultValue: string, what: string) {
  return s.duration().default(defaultValue).describe(what);
}

const logging = s
  .object({
    level: s
      .enum(['debug', 'info', 'warn', 'error'])
      .default('info')
      .describe('The least important lines that are written.'),
    format: s
      .enum(['json', 'text'])
      .optional()
      .describe('One JSON object per line, or text for people. By default json in a pod and text elsewhere.'),
  })
  .default({});

const metrics = s
  .object({
    address: address(':8080', 'Where /metrics is served: host:port, :port, or 0 for nowhere.'),
    secure: s
      .boolean()
      .default(false)
      .describe('Serve metrics over HTTPS, to bearers of a token that may get the URL /metrics only.'),
    certificateFolder: s
      .string()
      .minLength(1)
      .maxLength(4096)
      .optional()
      .describe(
        'The folder of tls.crt and tls.key for secure metrics. By default a certificate is made up at every start.',
      ),
  })
  .default({});

const certificates = s
  .object({
    kind: s
      .enum(['managed', 'secret', 'files'])
      .default('managed')
      .describe('managed: issued and renewed here. secret, files: kept by somebody else, such as cert-manager.'),
    name: s
      .dnsSubdomain()
      .optional()
      .describe('The Secret with tls.crt and tls.key in the own namespace, for kind secret.'),
    folder: s.string().minLength(1).maxLength(4096).optional().describe('The folder with both, for kind files.'),
    inject: s
      .boolean()
      .default(false)
      .describe('Write the ca.crt that lies beside them into the webhook configurations.'),
  })
  .rule("self.kind != 'secret' || has(self.name)", { message: 'kind secret needs the name of the Secret' })
  .rule("self.kind != 'files' || has(self.folder)", { message: 'kind files needs the folder' })
  .default({ kind: 'managed' });

const webhook = s
  .object({
    address: address(':9443', 'Where the webhooks of all operators are served.'),
    reachedAt: s
      .string()
      .maxLength(2048)
      .optional()
      .rule("self in ['service', 'loopback'] || self.startsWith('https://')", {
        message: 'write service, loopback, or a URL that begins with https://',
      })
      .describe(
        'Where the API server reaches the webhooks: service (the Service <operator>-webhook), loopback, or a URL. By default service in a pod, loopback where the API server itself is at a loopback address, and else service.',
      ),
    configurations: s
      .enum(['chart', 'runtime'])
      .optional()
      .describe(
        'Who makes the webhook configurations: chart (somebody else; only caBundle is written here) or runtime. By default runtime where the API server is at a loopback address and reachedAt is not given, else chart.',
      ),
    certificates,
  })
  .default({});

const leaderElection = s
  .object({
    enabled: s.boolean().default(true).describe('False for a single process that nobody competes with.'),
    leaseDuration: duration('15s', 'How long others wait after the last renewal that they saw.'),
    renewDeadline: duration('10s', 'After this long without a renewal the holder stops.'),
    retryPeriod: duration('2s', 'How often a holder renews and the others look.'),
  })
  // The same checks as in the elector, but with messages that name the settings.
  .rule("self.leaseDuration >= duration('1s')", { message: 'must be at least 1s', fieldPath: '.leaseDuration' })
  .rule("self.leaseDuration - self.renewDeadline >= duration('500ms')", {
    message:
      'must be at least 500ms less than leaseDuration: a write that starts then has to end before another may take over',
    fieldPath: '.renewDeadline',
  })
  .rule('self.renewDeadline.getMilliseconds() * 10 > self.retryPeriod.getMilliseconds() * 12', {
    message: 'must be less than renewDeadline / 1.2, else one late renewal loses the Lease',
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
    .describe("The manager's namespace, where its Leases are. By default the pod's own, else bowline-system."),
  namespaces: s
    .array(s.dnsLabel())
    .minItems(1)
    .maxItems(1000)
    .listType('set')
    .optional()
    .describe('Work in these namespaces only, without rights in the whole cluster.'),
  logging,
  health: s.object({ address: address(':8081', 'Where /livez, /readyz and /healthz are served.') }).default({}),
  metrics,
  webhook,
  leaderElection,
  drainTimeout: duration('30s', 'How long running reconciles may go on after SIGTERM.'),
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
  'drain-timeout': 'drainTimeout',
} as const;
