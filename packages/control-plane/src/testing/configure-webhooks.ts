import {
  keyOf,
  LimitRange,
  MutatingWebhookConfiguration,
  type Resource,
  Service,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import type { Operator } from '@bowline/runtime';
import { isNotFound } from '@bowline/runtime/client';
import { type WebhookAddress, webhookConfigurations } from '@bowline/runtime/install';
import type { Manager } from '@bowline/runtime/manager';
import type { Cluster } from './cluster.ts';
import { limitedToCluster, ofCluster } from './isolated-client.ts';
import { waitFor } from './wait-for.ts';

/** WebhookConfigurationOptions holds the values that a test's webhook configurations are built from. */
export interface WebhookConfigurationOptions {
  readonly manager: Manager;
  readonly managerNamespace: string;
  /** The namespaces that the operators are limited to; undefined when they are not. */
  readonly namespaces: readonly string[] | undefined;
  /** The name of the configurations. */
  readonly name: string;
  readonly reachedAt: 'loopback' | 'services';
  readonly signal: AbortSignal | undefined;
}

/**
 * configureWebhooks does what the chart does in production: it creates the configurations, limited to the test's
 * namespaces, and waits until the operator has written its authority into them and the API server has seen that.
 */
export async function configureWebhooks(
  c: Cluster,
  operator: Operator,
  options: WebhookConfigurationOptions,
): Promise<void> {
  const { managerNamespace, namespaces, name, signal } = options;
  const { validating, mutating } = webhookConfigurations({
    operator: operator.name,
    domain: operator.domain,
    webhooks: operator.webhooks,
    address: await addressOf(c, operator, options),
    ownNamespace: managerNamespace,
    ownKinds: operator.resources,
    name,
    onlyNamespaces: namespaces,
  });
  await Promise.all([
    validating && configure(c, ValidatingWebhookConfiguration, validating, signal),
    mutating && configure(c, MutatingWebhookConfiguration, mutating, signal),
  ]);
}

async function addressOf(
  c: Cluster,
  operator: Operator,
  options: WebhookConfigurationOptions,
): Promise<WebhookAddress> {
  const currentPort = () => options.manager.status().find((each) => each.name === operator.name)?.webhookPort;
  await waitFor(
    `the webhooks of ${operator.name} to be served`,
    () => Promise.resolve(currentPort() !== undefined),
    options.signal,
  );
  const port = currentPort();
  if (options.reachedAt === 'loopback') return { url: `https://127.0.0.1:${port}` };
  const service = { namespace: options.managerNamespace, name: `${operator.name}-webhook` };
  // Nothing routes to a cluster IP here, but the API server connects to the name of an ExternalName Service as it is.
  const spec = { type: 'ExternalName', externalName: '127.0.0.1' } as const;
  if (!(await c.admin.find(Service, service))) await c.admin.create(Service, { metadata: service, spec });
  return { service: { ...service, port } };
}

type Configuration = ValidatingWebhookConfiguration | MutatingWebhookConfiguration;

async function configure<T extends Configuration>(
  c: Cluster,
  kind: Resource<T>,
  wanted: T,
  signal: AbortSignal | undefined,
): Promise<void> {
  const key = keyOf(wanted);
  const limited = limitedToTest(wanted, c.namespace);
  if (await c.admin.find(kind, key)) {
    // After a restart, with the address of the previous process. It must always exist: operators may depend on it.
    await c.admin.patch(kind, key, { type: 'merge', body: { webhooks: limited.webhooks } });
  } else {
    await c.admin.create(kind, limited);
    c.onDispose(() =>
      c.admin.delete(kind, key).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      }),
    );
  }
  await waitFor(`the API server to call ${key.name}`, () => isCalled(c, kind, key.name), signal);
}

/**
 * probeLabel returns the label of the objects that a configuration's probe matches. Each kind of configuration has its
 * own, because the API server observes them one by one.
 */
function probeLabel(kind: string | undefined): string {
  return `probe.test.bowline.dev/${kind}`;
}

/**
 * limitedToTest restricts a configuration to the test's namespaces, and adds a webhook that no operator serves: the
 * error that the API server returns for it shows how much of the configuration the API server has observed.
 */
function limitedToTest<T extends Configuration>(wanted: T, cluster: string): T {
  const webhooks = (wanted.webhooks ?? []).map((each) => ({
    ...each,
    namespaceSelector: limitedToCluster(each.namespaceSelector, cluster),
  }));
  const [first] = webhooks;
  if (!first) return wanted;
  const { url, service } = first.clientConfig;
  const path = '/probe';
  const probe = {
    ...first,
    name: 'probe.test.bowline.dev',
    clientConfig: url ? { url: new URL(path, url).href } : { service: { ...service, path } },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['limitranges'], operations: ['CREATE'] }],
    matchConditions: [],
    namespaceSelector: ofCluster(cluster),
    objectSelector: { matchLabels: { [probeLabel(wanted.kind)]: wanted.metadata?.name ?? '' } },
    sideEffects: 'None',
    failurePolicy: 'Fail',
  };
  return { ...wanted, webhooks: [...webhooks, probe] };
}

/** Whether the API server reached the server of a configuration's webhooks, and trusted it. */
async function isCalled(c: Cluster, kind: Resource, name: string): Promise<boolean> {
  const metadata = { namespace: c.namespace, name: c.uniqueName('probe'), labels: { [probeLabel(kind.kind)]: name } };
  try {
    // A kind that no operator has webhooks for: their responses would come first.
    await c.admin.create(LimitRange, { metadata, spec: { limits: [] } }, { dryRun: true });
    return false;
  } catch (error) {
    // Before that, no certificate is served yet, or none that the API server trusts.
    return String(error).includes('could not find the requested resource');
  }
}
