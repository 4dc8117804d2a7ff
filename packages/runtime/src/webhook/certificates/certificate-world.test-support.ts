import { X509Certificate } from 'node:crypto';
import { ConfigMap, Secret, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { seededRandom, systemClock, VirtualClock } from '@bowline/machinery';
import { Cache } from '../../cache/cache.ts';
import { ManagedCertificates } from '../../certificates/managed-certificates.ts';
import { type Authority, readAuthorities, readLeaf } from '../../certificates/pem.ts';
import { createClient } from '../../client/create-client.ts';
import { operatorIdentity } from '../../identity/operator-identity.ts';
import { createLog } from '../../observability/create-log.ts';
import { MemoryApiServer } from '../../testing/memory-api-server.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../transport/transport.ts';
import { admit } from '../admission-response.ts';
import { webhookConfigurations } from '../configurations.ts';
import { validating } from '../declare.ts';
import { ConfigurationsTrust } from './configurations-trust.ts';
import { webhookPolicy, webhookProfile } from './webhook-certificates.ts';

export const DAY_MS = 24 * 3_600_000;
const PROPAGATION_MS = 120_000;
export const SECRET = { namespace: 'sea-system', name: 'sea-webhook-tls' };
export const CONFIGURATION = { name: 'bowline-sea' };

const webhook = validating(ConfigMap, { name: 'gate', operations: ['CREATE'] }).handle(() => admit());
const address = { service: { namespace: 'sea-system', name: 'sea-webhook' } };
const identity = operatorIdentity({ name: 'sea', domain: 'bowline.dev' });
const wanted = webhookConfigurations({
  operator: 'sea',
  domain: 'bowline.dev',
  webhooks: [webhook],
  ownNamespace: 'sea-system',
  address,
});

/** Replica is one process of the operator, reduced to its certificates. */
export interface Replica {
  readonly name: string;
  readonly certificates: ManagedCertificates;
  stop(): Promise<void>;
}

/**
 * CertificateWorld simulates an API server in this process, virtual time and any number of replicas. After every
 * request and every change of a served certificate it checks the invariants and records failures in `violations`.
 */
export class CertificateWorld implements AsyncDisposable {
  readonly server = new MemoryApiServer();
  readonly clock = new VirtualClock();
  readonly violations: string[] = [];
  readonly logged: string[] = [];
  readonly #replicas = new Set<Replica>();
  #trusted: { readonly bundle: string; readonly authorities: readonly Authority[] } = { bundle: '', authorities: [] };
  #count = 0;

  constructor() {
    this.server.serve(ValidatingWebhookConfiguration);
    if (wanted.validating) this.server.put(ValidatingWebhookConfiguration, wanted.validating);
  }

  start(options: { own?: boolean; names?: readonly string[] } = {}): Replica {
    const name = `replica-${++this.#count}`;
    const stop = new AbortController();
    const log = createLog({ level: 'debug', destination: { write: (line: string) => void this.logged.push(line) } });
    const client = createClient({ transport: this.#transport(name) });
    const cache = new Cache({ client, clock: this.clock, wire: systemClock, log });
    const trust = new ConfigurationsTrust({
      client,
      cache,
      identity,
      wanted,
      own: options.own ?? false,
      clock: this.clock,
      log,
    });
    const certificates = new ManagedCertificates({
      client,
      cache,
      profile: webhookProfile(identity),
      secret: SECRET,
      trust,
      policy: {
        ...webhookPolicy(identity, address, { propagationMs: PROPAGATION_MS }),
        ...(options.names ? { names: options.names } : {}),
      },
      clock: this.clock,
      random: seededRandom(this.#count),
      log,
      metrics: { counter: () => nothing, gauge: () => nothing, histogram: () => nothing, collect: () => nothing },
    });
    certificates.subscribe(() => this.#check());
    const running = Promise.all([cache.run(stop.signal), certificates.run(stop.signal)]);
    const replica: Replica = {
      name,
      certificates,
      stop: async () => {
        this.#replicas.delete(replica);
        stop.abort();
        await running;
      },
    };
    this.#replicas.add(replica);
    return replica;
  }

  /** secret returns the Secret's data as text; empty if it does not exist. */
  secret(): Readonly<Record<string, string>> {
    const data = this.server.get(Secret, SECRET)?.data ?? {};
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decode(value)]));
  }

  /** damage edits the Secret manually; undefined removes a key. */
  damage(change: Readonly<Record<string, string | undefined>>): void {
    const found = this.server.get(Secret, SECRET) ?? { metadata: SECRET };
    const data = Object.entries({ ...this.secret(), ...change }).filter(([, value]) => value !== undefined);
    this.server.put(Secret, {
      ...found,
      data: Object.fromEntries(data.map(([key, value = '']) => [key, encode(value)])),
    });
  }

  /** bundle returns the CA bundle that the API server trusts. */
  bundle(): string {
    const found = this.server.get(ValidatingWebhookConfiguration, CONFIGURATION);
    return decode(found?.webhooks?.[0]?.clientConfig.caBundle ?? '');
  }

  /** served returns the fingerprints of the certificates that replicas serve. */
  served(): (string | undefined)[] {
    return [...this.#replicas].map(({ certificates }) => certificates.current?.fingerprint);
  }

  /** leaf returns the fingerprint of the certificate in the Secret. */
  leaf(): string | undefined {
    const text = this.secret()['tls.crt'];
    return text ? new X509Certificate(text).fingerprint256 : undefined;
  }

  /**
   * isSettled returns whether every replica serves the Secret's certificate, the API server trusts it, and no renewal
   * is due.
   */
  isSettled(): boolean {
    const leaf = this.leaf();
    return (
      leaf !== undefined &&
      this.served().every((each) => each === leaf) &&
      this.bundle() === this.secret()['ca.crt'] &&
      Date.parse(new X509Certificate(this.secret()['tls.crt'] ?? '').validTo) - this.clock.now() > 30 * DAY_MS
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#replicas].map((replica) => replica.stop()));
  }

  /** Invariant: the API server trusts every served certificate, once it has been given any CA. */
  #check(): void {
    const bundle = this.bundle();
    if (bundle === '') return;
    if (bundle !== this.#trusted.bundle) this.#trusted = { bundle, authorities: readAuthorities(bundle) };
    const { authorities } = this.#trusted;
    for (const { name, certificates } of this.#replicas) {
      const { current } = certificates;
      if (!current) continue;
      const { certificate } = readLeaf('a replica', current.certificatePem, current.keyPem);
      if (
        !authorities.some((each) => certificate.verify(each.certificate.publicKey) && each.notAfter > this.clock.now())
      ) {
        this.violations.push(`${name} serves a certificate that the API server does not trust`);
      }
      if (current.notAfter <= this.clock.now()) this.violations.push(`${name} serves an expired certificate`);
    }
  }

  /** The scripted server supports no patches; the one needed here is added. */
  #transport(user: string): Transport {
    const inner = this.server.transport(user);
    return {
      ...inner,
      host: inner.host,
      request: async (request) => {
        const response = await (request.method === 'PATCH' ? this.#patch(request, inner) : inner.request(request));
        this.#check();
        return response;
      },
    };
  }

  async #patch(request: TransportRequest, inner: Transport): Promise<TransportResponse> {
    const found = this.server.get(ValidatingWebhookConfiguration, CONFIGURATION) ?? {};
    const patch = JSON.parse(String(request.body)) as ValidatingWebhookConfiguration;
    const bundles = new Map(patch.webhooks?.map(({ name, clientConfig }) => [name, clientConfig.caBundle]));
    const webhooks = found.webhooks?.map((each) => ({
      ...each,
      clientConfig: { ...each.clientConfig, caBundle: bundles.get(each.name) },
    }));
    const { resourceVersion } = patch.metadata ?? {};
    const body = JSON.stringify({ ...found, metadata: { ...found.metadata, resourceVersion }, webhooks });
    return await inner.request({ ...request, method: 'PUT', body });
  }
}

const nothing = { add() {}, set() {}, remove() {}, observe() {}, [Symbol.dispose]() {} };

function decode(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8');
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}
