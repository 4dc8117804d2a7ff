import { isDeepStrictEqual } from 'node:util';
import { Namespace, Secret, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { type Clock, untilAborted } from '@bowline/machinery';
import { allow, type Log, type Metrics, OWN_NAMESPACE, type Permission } from '@bowline/runtime';
import type { AuthorReview, AuthorReviewDeps } from '@bowline/runtime/access';
import type { Service, ServiceContext } from '@bowline/runtime/manager';
import { fieldManagerOf } from '@bowline/runtime/writing';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { OPERATOR } from '../api/names.ts';
import type { Config } from '../config.ts';
import { annotateSync } from './annotate-sync.ts';
import { BackgroundSecrets } from './background-secrets.ts';
import { hasGlobalSecret, type ReceiverEnvironment } from './receiver-environment.ts';
import { runReceiver } from './run-receiver.ts';
import { WebhookHandler } from './webhook-handler.ts';

/** ReceiverDeps is the part of the operator's dependencies that the receiver needs. */
export interface ReceiverDeps extends AuthorReviewDeps {
  readonly config: Config;
  /** `receiverEnvironment(process.env)` in a manager. */
  readonly receiverEnvironment: ReceiverEnvironment;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** RECEIVER is the name of the service: its Service is `ignition-sync-receiver`. */
export const RECEIVER = 'receiver';

/**
 * receiverPermissions returns what the receiver needs besides IgnitionSyncs and the Secrets that they name, which the
 * controller reads too.
 */
export function receiverPermissions({ receiverSecret, webhookReceiverPort }: Config): readonly Permission[] {
  if (webhookReceiverPort === 0) return [];
  const patch = allow(['get', 'patch'], IgnitionSync);
  if (!receiverSecret) return [patch];
  return [patch, allow(['get'], Secret, { namespaces: [OWN_NAMESPACE], names: [receiverSecret.name] })];
}

/**
 * receiverService receives webhooks of Git servers on every replica. The operator must watch IgnitionSyncs, the
 * configuration of the webhook that reviews their authors, and the metadata of namespaces if it is not limited to some: Secrets are
 * read only where the review is enforced, and the configuration may select namespaces by their labels.
 */
export function receiverService(authors: AuthorReview): Service<ReceiverDeps, Config> {
  return {
    name: RECEIVER,
    port: ({ webhookReceiverPort }) => webhookReceiverPort,
    run: (signal, deps, context) => serve(signal, { authors, deps, context }),
  };
}

interface Serving {
  readonly authors: AuthorReview;
  readonly deps: ReceiverDeps;
  readonly context: ServiceContext;
}

async function serve(signal: AbortSignal, { authors, deps, context }: Serving): Promise<void> {
  const { config, receiverEnvironment: environment, ownNamespace: namespace, clock, log, metrics } = deps;
  if (config.webhookReceiverPort === 0) return await untilAborted(signal);
  context.readiness(() => ({ ok: false, message: 'the IgnitionSyncs are not known yet' }));
  const { view, fieldSelector } = authors.configuration;
  const configurations = context.informer(ValidatingWebhookConfiguration, { view, fieldSelector });
  const syncs = context.informer(IgnitionSync);
  const namespaces = deps.namespaces === undefined ? context.informer(Namespace, { view: 'metadata' }) : undefined;
  await Promise.all([configurations, syncs, ...(namespaces ? [namespaces] : [])].map((each) => each.synced(signal)));
  const secrets = new BackgroundSecrets({
    client: context.client,
    syncs,
    isTrustedIn: (each) =>
      authors.isTrustedIn({ get: (_, key) => namespaces?.get(key), list: () => configurations.list(), deps }, each),
    globalSecret: config.receiverSecret && { namespace, name: config.receiverSecret.name },
    environment,
    clock,
    log,
  });
  const fieldManager = fieldManagerOf(OPERATOR, RECEIVER);
  const handler = new WebhookHandler({
    findSync: (key) => syncs.get(key),
    secrets,
    annotate: (key, target, decide) => annotateSync(context.client, key, target, decide, { fieldManager, signal }),
    clock,
    log,
    metrics,
    // A global secret that cannot be read must not open the receiver.
    allowUnauthenticated: config.allowUnauthenticatedWebhooks && !hasGlobalSecret(config, environment),
    acceptDuplicatesWith: config.acceptDuplicatesWith,
    rateLimit: config.webhookRateLimit,
  });
  // Otherwise the first requests would be refused.
  await secrets.readAll(signal);
  using _review = configurations.subscribe(({ initial }) => {
    if (!initial) secrets.recheck();
  });
  using _labels = namespaces?.subscribe(({ current, previous, initial }) => {
    const hasChanged = !isDeepStrictEqual(current?.metadata.labels, previous?.metadata.labels);
    if (!initial && hasChanged) secrets.recheck();
  });
  const { webhookReceiverHost: host, webhookReceiverPort: port, webhookReceiverCertificateFolder } = config;
  const options = { handler, host, port, certificateFolder: webhookReceiverCertificateFolder, clock, log };
  // If one of the two fails, the service fails, and is restarted when the other has stopped.
  const failed = new AbortController();
  const end = AbortSignal.any([signal, failed.signal]);
  const parts = [runReceiver(end, options, context), secrets.run(end)];
  for (const part of parts) part.catch((error: unknown) => failed.abort(error));
  await Promise.allSettled(parts);
  if (failed.signal.aborted) throw failed.signal.reason;
}
