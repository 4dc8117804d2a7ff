import { Agent, type RequestOptions, request } from 'node:https';
import { ConfigMap } from '@bowline/kubernetes';
import { createCertificateAuthority, issueCertificate, systemClock } from '@bowline/machinery';
import { afterEach, beforeAll } from 'vitest';
import type { TlsMaterial } from '../certificates/certificate-source.ts';
import { readLeaf } from '../certificates/pem.ts';
import { createClient } from '../client/create-client.ts';
import { ScriptedTransport } from '../client/scripted-transport.test-support.ts';
import { createMetrics } from '../observability/create-metrics.ts';
import { silentLog } from '../observability/log.ts';
import type { admit, deny } from './admission-response.ts';
import { validating } from './declare.ts';
import { WebhookClients } from './dry-run-guard.ts';
import type { Webhook } from './webhook.ts';
import { webhookRoute } from './webhook-route.ts';
import { WebhookServers } from './webhook-servers.ts';
import type { SiteOptions } from './webhook-site.ts';

export let ca = '';
export let issue: (...dnsNames: string[]) => Promise<TlsMaterial>;
export let leaf: TlsMaterial;
export let otherLeaf: TlsMaterial;
/** Called after each test. */
export const cleanUps: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const authority = await createCertificateAuthority({ commonName: 'test' });
  ca = authority.certificatePem;
  issue = async (...dnsNames) => {
    const names = { dnsNames, ipAddresses: ['127.0.0.1'] };
    const made = await issueCertificate({ authority, commonName: 'x', ...names, usages: ['server'] });
    return readLeaf('test', made.certificatePem, made.keyPem);
  };
  [leaf, otherLeaf] = await Promise.all([issue(), issue()]);
});

afterEach(async () => {
  await Promise.all(cleanUps.splice(0).map((work) => work()));
});

const nowhere = { recordWrite() {}, recordDelete() {} };

/** StartOptions configures a site; tests may omit any field. */
export interface StartOptions extends Partial<SiteOptions> {
  readonly address?: string;
  readonly servers?: WebhookServers;
  /** Null for no certificate yet. */
  readonly certificate?: TlsMaterial | null;
}

/** start serves webhooks on loopback until the test ends. */
export async function start(webhooks: readonly Webhook[], options: StartOptions = {}) {
  const { wire = systemClock, operator = 'op' } = options;
  const metrics = createMetrics();
  const clients = new WebhookClients(createClient({ transport: new ScriptedTransport() }), nowhere);
  const cache = { get: () => undefined, list: () => [], isServed: () => true };
  const log = silentLog;
  const servers = options.servers ?? new WebhookServers({ wire });
  const site = await servers.open(options.address ?? '127.0.0.1:0', {
    operator,
    names: ['127.0.0.1'],
    routes: webhooks.map((each) =>
      webhookRoute(each, { operator, domain: 'bowline.dev', clients, cache, deps: undefined, clock: systemClock, log }),
    ),
    maxBodyBytes: 4096,
    maxInFlight: 2,
    maxRequestsPerConnection: 100,
    lingerMs: 500,
    drainMs: 5_000,
    wire,
    log,
    metrics,
    ...options,
  });
  const { certificate = leaf } = options;
  if (certificate) site.use(certificate);
  const agent = new Agent({ keepAlive: true, ca });
  cleanUps.push(() => {
    agent.destroy();
    return site.close();
  });
  const send = (body: string | Buffer, more: RequestOptions = {}) => exchange(site.port, agent, body, more);
  return { ...site, send, metrics, agent };
}

export interface TestResponse {
  readonly status: number;
  readonly text: string;
  readonly connection: string | undefined;
  readonly fingerprint: string;
}

/** exchange sends a body and reads the response. */
export function exchange(
  port: number,
  agent: Agent,
  body: string | Buffer,
  more: RequestOptions,
): Promise<TestResponse> {
  const chunked = more.headers !== undefined && 'transfer-encoding' in more.headers;
  const length = chunked ? {} : { 'content-length': Buffer.byteLength(body) };
  const headers = { 'content-type': 'application/json', ...length, ...more.headers };
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path: '/op/gate', method: 'POST', agent, ...more, headers },
      (response) => {
        const chunks: Buffer[] = [];
        const socket = response.socket as unknown as { getPeerCertificate(): { fingerprint256: string } };
        const { fingerprint256 } = socket.getPeerCertificate();
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(chunks).toString(),
            connection: response.headers.connection,
            fingerprint: fingerprint256,
          }),
        );
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** review returns the body of a review; `request` overrides fields of its request. */
export const review = (change: object = {}, request: object = {}): string =>
  JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u-1',
      operation: 'CREATE',
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      userInfo: { username: 'me' },
      object: { metadata: { name: 'a' } },
      name: 'a',
      namespace: 'default',
      ...request,
    },
    ...change,
  });

/** gate returns a webhook with the given handler. */
export const gate = (
  handle: () => ReturnType<typeof admit | typeof deny> | Promise<ReturnType<typeof admit>>,
  timeoutSeconds = 10,
) => validating(ConfigMap, { name: 'gate', operations: ['CREATE'], timeoutSeconds }).handle(handle);
