import { setMaxListeners } from 'node:events';
import { systemClock, systemRandom, untilAborted } from '@bowline/machinery';
import { folderLocation, secretLocation } from '../certificates/certificate-locations.ts';
import type { CertificateSource } from '../certificates/certificate-source.ts';
import { ExternalCertificates } from '../certificates/external-certificates.ts';
import { ManagedCertificates } from '../certificates/managed-certificates.ts';
import { noTrust, type Trust } from '../certificates/trust.ts';
import { operatorIdentity } from '../identity/operator-identity.ts';
import { silentLog } from '../observability/log.ts';
import { noMetrics } from '../observability/metrics.ts';
import type { HealthCheck } from '../operations/health.ts';
import { ConfigurationsTrust } from './certificates/configurations-trust.ts';
import { webhookPolicy, webhookProfile } from './certificates/webhook-certificates.ts';
import { checkWebhooks, serverNames, type WebhookAddress, webhookConfigurations } from './configurations.ts';
import { WebhookClients } from './dry-run-guard.ts';
import { webhookRoute } from './webhook-route.ts';
import { WebhookServers } from './webhook-servers.ts';
import { WebhookSources } from './webhook-sources.ts';
import type { RunningWebhooks, WebhooksOptions } from './webhooks-options.ts';

/** runWebhooks implements `startWebhooks` after everything is loaded. */
export async function runWebhooks(options: WebhooksOptions): Promise<RunningWebhooks> {
  checkWebhooks(options);
  const { operator, domain, webhooks, signal: given, deps } = options;
  if (webhooks.some(({ matchConditions }) => matchConditions.length > 0)) {
    const { checkMatchConditions } = await import('./match-conditions.ts');
    checkMatchConditions(webhooks);
  }
  const clock = options.clock ?? systemClock;
  const wire = options.wire ?? systemClock;
  const log = options.log ?? silentLog;
  const metrics = options.metrics ?? noMetrics;
  // Stops everything when a part fails.
  const failed = new AbortController();
  const signal = AbortSignal.any([given, failed.signal]);
  setMaxListeners(0, signal);
  const sources = new WebhookSources(options);
  const clients = new WebhookClients(options.client, options.cache);
  const servers = options.servers ?? new WebhookServers({ wire, log });
  signal.throwIfAborted();
  const site = await servers.open(options.address ?? ':9443', {
    operator,
    names: serverNames(addressOf(options, 0)),
    routes: webhooks.map((webhook) =>
      webhookRoute(webhook, { operator, domain, clients, cache: sources.readsOf(webhook), deps, clock, log }),
    ),
    maxBodyBytes: options.maxBodyBytes ?? 8 * 1024 * 1024,
    maxInFlight: options.maxInFlight ?? 64,
    maxRequestsPerConnection: options.maxRequestsPerConnection ?? 1000,
    lingerMs: options.lingerMs ?? 500,
    drainMs: options.drainMs ?? 10_000,
    wire,
    log,
    metrics,
  });
  const closed = untilAborted(signal).then(() => site.close());
  const certificates = certificateSource(options, addressOf(options, site.port));
  const running = certificates.run(signal).catch((error: unknown) => failed.abort(error));
  const ready = (async () => {
    await sources.synced(signal);
    // Only now: no handshake succeeds without a certificate, and no handler may run with an incomplete cache.
    await firstCertificate(certificates, signal);
    certificates.subscribe((certificate) => site.use(certificate));
    if (certificates.current) site.use(certificates.current);
  })();
  ready.catch(() => undefined);
  let isReady = false;
  void ready.then(
    () => {
      isReady = true;
      log.info('serving webhooks', { operator, port: site.port });
    },
    () => undefined,
  );
  const stopped = Promise.all([running, closed]).then(() => {
    if (failed.signal.aborted) throw failed.signal.reason;
  });
  return {
    port: site.port,
    ready: (limit) => orAborted(ready, limit),
    announced: (limit) =>
      orAborted(
        ready.then(() => certificates.announced),
        limit,
      ),
    check: () => readiness(operator, isReady, certificates, wire.now()),
    stopped,
  };
}

function addressOf({ reachedAt, operator, namespace }: WebhooksOptions, port: number): WebhookAddress {
  if (reachedAt === 'loopback') return { url: `https://127.0.0.1:${port}` };
  return reachedAt ?? { service: { namespace, name: `${operator}-webhook` } };
}

function certificateSource(options: WebhooksOptions, address: WebhookAddress): CertificateSource {
  const { operator, domain, namespace, client, cache, certificates = { kind: 'managed' } } = options;
  const identity = operatorIdentity({ name: operator, domain });
  const profile = webhookProfile(identity);
  const common = {
    profile,
    // The API server validates certificates by its own time, so a clock that a test advances cannot be used.
    clock: options.wire ?? systemClock,
    random: options.random ?? systemRandom,
    log: options.log ?? silentLog,
    metrics: options.metrics ?? noMetrics,
  };
  const own = options.configurations === 'runtime';
  const trust = (): Trust => {
    const { webhooks, ownKinds, configurationName: name, onlyNamespaces } = options;
    const wanted = webhookConfigurations({
      operator,
      domain,
      webhooks,
      address,
      ownNamespace: namespace,
      ownKinds,
      name,
      onlyNamespaces,
    });
    return new ConfigurationsTrust({ client, cache, identity, wanted, own, clock: common.clock, log: common.log });
  };
  if (certificates.kind === 'managed') {
    const policy = webhookPolicy(identity, address, certificates);
    const secret = { namespace, name: `${operator}-webhook-tls` };
    return new ManagedCertificates({ ...common, client, cache, secret, policy, trust: trust() });
  }
  const location =
    certificates.kind === 'files'
      ? folderLocation(certificates.folder, profile)
      : secretLocation(cache, { namespace, name: certificates.name }, profile);
  // For configurations created here no other component publishes the CA.
  const published = certificates.inject || own ? trust() : noTrust;
  return new ExternalCertificates({ ...common, location, names: serverNames(address), trust: published });
}

async function firstCertificate(certificates: CertificateSource, signal: AbortSignal): Promise<void> {
  if (certificates.current) return;
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      subscription[Symbol.dispose]();
      reject(signal.reason);
    };
    const subscription = certificates.subscribe(() => {
      subscription[Symbol.dispose]();
      signal.removeEventListener('abort', stop);
      resolve();
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

function readiness(operator: string, isReady: boolean, certificates: CertificateSource, now: number): HealthCheck {
  const { current } = certificates;
  const problem = certificates.problem()?.message;
  const check = (ok: boolean, message: string): HealthCheck => ({
    name: `webhooks-${operator}`,
    ok,
    message: problem === undefined ? message : `${message}; ${problem}`,
  });
  if (!current) return check(false, 'there is no certificate yet');
  if (current.notAfter <= now)
    return check(false, `the certificate expired at ${new Date(current.notAfter).toISOString()}`);
  if (!isReady) return check(false, 'the caches of the handlers are not synced yet');
  return check(true, `the certificate is valid until ${new Date(current.notAfter).toISOString()}`);
}

async function orAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return await work;
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
