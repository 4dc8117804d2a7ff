import { X509Certificate } from 'node:crypto';
import { Secret } from '@bowline/kubernetes';
import {
  type CertificateWithKey,
  createCertificateAuthority,
  issueCertificate,
  seededRandom,
  VirtualClock,
} from '@bowline/machinery';
import { expect, it, vi } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { MemoryApiServer } from '../testing/memory-api-server.ts';
import { CertificateAuthority, type CertificateAuthorityOptions } from './certificate-authority.ts';
import { readAuthorities } from './pem.ts';

const DAY_MS = 24 * 3_600_000;
const SECRET = { namespace: 'sea-system', name: 'sea-mtls' };
const PEER = { namespace: 'team', name: 'harbour-tls' };
const MANAGED_BY = 'example.com/managed-by';
const waiting = { timeout: 15_000, interval: 5 };
vi.setConfig({ testTimeout: 60_000 });

/** World is an API server in this process, virtual time, and replicas of an operator. */
class World implements AsyncDisposable {
  readonly server = new MemoryApiServer();
  readonly clock = new VirtualClock();
  readonly #stops: (() => Promise<void>)[] = [];

  start(options: Partial<CertificateAuthorityOptions> = {}) {
    const authority = new CertificateAuthority({
      operator: { name: 'sea', domain: 'example.com' },
      secret: SECRET,
      certificate: { names: ['manager.sea'], usages: ['client'] },
      providedAnnotation: MANAGED_BY,
      clock: this.clock,
      random: seededRandom(1),
      ...options,
    });
    const stop = new AbortController();
    const running = authority.run(stop.signal, createClient({ transport: this.server.transport() }));
    const end = async (): Promise<void> => {
      stop.abort();
      await running;
    };
    this.#stops.push(end);
    return { authority, end, ready: () => authority.ready(stop.signal) };
  }

  /** reconcile writes the Secret of the peer, as the controller of an operator does. */
  async reconcile(authority: CertificateAuthority): Promise<void> {
    const existing = this.server.get(Secret, PEER);
    const { data } = await authority.issue(existing, { names: ['harbour.team.agent'], usages: ['server'] });
    this.server.put(Secret, { ...existing, metadata: { ...existing?.metadata, ...PEER }, data });
  }

  text(key: typeof SECRET, field: string): string {
    return Buffer.from(this.server.get(Secret, key)?.data?.[field] ?? '', 'base64').toString('utf8');
  }

  /** mistrust returns which side of a connection would reject the other now. */
  mistrust({ current }: CertificateAuthority): string[] {
    const peer = this.text(PEER, 'tls.crt');
    const problems = [
      ...(verifies(current?.bundlePem ?? '', peer, this.clock.now()) ? [] : ['the operator rejects the peer']),
      ...(verifies(this.text(PEER, 'ca.crt'), current?.certificate.certificatePem ?? '', this.clock.now())
        ? []
        : ['the peer rejects the operator']),
    ];
    return problems;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stops) await stop();
  }
}

function verifies(bundle: string, certificatePem: string, now: number): boolean {
  const leaf = new X509Certificate(certificatePem);
  const isValid = Date.parse(leaf.validTo) > now && Date.parse(leaf.validFrom) <= now;
  return isValid && readAuthorities(bundle).some(({ certificate }) => leaf.verify(certificate.publicKey));
}

const authorities = (bundle: string): string[] => readAuthorities(bundle).map(({ fingerprint }) => fingerprint);

it('keeps a CA and the certificate of the operator in a Secret, and issues others without the key of the CA', async () => {
  await using world = new World();
  const { authority, ready } = world.start();
  await expect(authority.issue(undefined, { names: ['x'], usages: ['server'] })).rejects.toMatchObject({
    code: 'BOWLINE_CERTIFICATE_AUTHORITY_UNAVAILABLE',
  });
  const { certificate, bundlePem } = await ready();
  const own = new X509Certificate(certificate.certificatePem);
  expect([own.subject, own.subjectAltName, own.keyUsage]).toEqual([
    'CN=manager.sea',
    'DNS:manager.sea',
    ['1.3.6.1.5.5.7.3.2'],
  ]);
  expect(bundlePem).toBe(world.text(SECRET, 'ca.crt'));
  expect(readAuthorities(bundlePem)[0]?.certificate.subject).toBe('CN=example-sea-ca');
  expect(world.server.get(Secret, SECRET)?.metadata?.labels).toMatchObject({
    'app.kubernetes.io/managed-by': 'example',
    'certificates.example.com/operator': 'sea',
  });
  await world.reconcile(authority);
  expect(Object.keys(world.server.get(Secret, PEER)?.data ?? {}).sort()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
  expect(world.mistrust(authority)).toEqual([]);
});

it('writes nothing in a steady state and after a restart', async () => {
  await using world = new World();
  const first = world.start();
  const before = await first.ready();
  await world.reconcile(first.authority);
  await first.end();
  const writes = world.server.writes().length;
  const peer = world.server.get(Secret, PEER)?.data;
  const second = world.start();
  expect(await second.ready()).toEqual(before);
  await world.reconcile(second.authority);
  await world.clock.advance(59 * DAY_MS);
  await world.reconcile(second.authority);
  expect(world.server.get(Secret, PEER)?.data).toEqual(peer);
  expect(world.server.writes()).toHaveLength(writes);
});

it('replaces the CA and every certificate within two years without a moment of mistrust', async () => {
  await using world = new World();
  const { authority, ready } = world.start({ bundles: () => [world.text(PEER, 'ca.crt')] });
  await ready();
  await world.reconcile(authority);
  const seen = new Set<string>(authorities(world.text(SECRET, 'ca.crt')));
  const [first] = seen;
  const certificates = new Set<string>();
  const steps = (2 * 365) / 5;
  for (let step = 0; step < steps; step++) {
    await world.clock.advance(5 * DAY_MS);
    // The loop settles: no renewal of the operator is due.
    await vi.waitFor(() => {
      const { notAfter = 0 } = authority.current?.certificate ?? {};
      expect(notAfter - world.clock.now()).toBeGreaterThan(29 * DAY_MS);
      expect(authority.current?.bundlePem).toBe(world.text(SECRET, 'ca.crt'));
    }, waiting);
    expect(world.mistrust(authority)).toEqual([]);
    await world.reconcile(authority);
    expect(world.mistrust(authority)).toEqual([]);
    for (const each of authorities(world.text(PEER, 'ca.crt'))) seen.add(each);
    certificates.add(world.text(PEER, 'tls.crt'));
  }
  expect(seen.size).toBeGreaterThanOrEqual(3);
  expect(certificates.size).toBeGreaterThanOrEqual(10);
  expect(authorities(world.text(PEER, 'ca.crt'))).not.toContain(first);
});

it('issues nothing from a new CA while a bundle lacks it', async () => {
  await using world = new World();
  const { authority, ready } = world.start({ bundles: () => [world.text(PEER, 'ca.crt')], propagationMs: 60_000 });
  await ready();
  await world.reconcile(authority);
  const before = authority.current?.certificate.fingerprint;
  // Deleting the Secret requests new keys.
  world.server.remove(Secret, SECRET);
  await vi.waitFor(() => expect(world.text(SECRET, 'ca-next.key')).not.toBe(''), waiting);
  for (let i = 0; i < 5; i++) await world.clock.advance(120_000);
  expect(authority.current?.certificate.fingerprint).toBe(before);
  await vi.waitFor(async () => {
    await world.reconcile(authority);
    await world.clock.advance(60_000);
    expect(authority.current?.certificate.fingerprint).not.toBe(before);
    expect(world.mistrust(authority)).toEqual([]);
  }, waiting);
  await world.reconcile(authority);
  expect(world.mistrust(authority)).toEqual([]);
});

it('is the same for all replicas, and continued by any of them', async () => {
  await using world = new World();
  const [first, second] = [world.start(), world.start()];
  const identity = await first.ready();
  expect(await second.ready()).toEqual(identity);
  await first.end();
  await world.clock.advance(61 * DAY_MS);
  await vi.waitFor(async () => {
    await world.clock.advance(10_000);
    expect(second.authority.current?.certificate.fingerprint).not.toBe(identity.certificate.fingerprint);
  }, waiting);
});

it('only reads a Secret that another controller maintains', async () => {
  await using world = new World();
  const now = world.clock.now();
  const root = await createCertificateAuthority({ commonName: 'other', now });
  const provide = async (names: string[]): Promise<CertificateWithKey> => {
    const made = await issueCertificate({ authority: root, commonName: 'm', dnsNames: names, usages: ['client'], now });
    const texts = { 'tls.crt': made.certificatePem, 'tls.key': made.keyPem, 'ca.crt': root.certificatePem };
    const data = Object.fromEntries(
      Object.entries(texts).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    );
    world.server.put(Secret, { metadata: { ...SECRET, annotations: { [MANAGED_BY]: 'cert-manager' } }, data });
    return made;
  };
  const first = await provide(['manager.sea']);
  const { authority, ready } = world.start();
  expect((await ready()).certificate.certificatePem).toBe(first.certificatePem);
  expect(authority.current?.bundlePem).toBe(root.certificatePem);
  await expect(world.reconcile(authority)).rejects.toMatchObject({ code: 'BOWLINE_CERTIFICATE_AUTHORITY_UNAVAILABLE' });
  await provide(['wrong']);
  await vi.waitFor(() => {
    expect(authority.problem()).toMatchObject({
      code: 'BOWLINE_CERTIFICATE_UNUSABLE',
      message: expect.stringContaining('not valid for manager.sea') as unknown,
    });
  }, waiting);
  expect(authority.current?.certificate.certificatePem).toBe(first.certificatePem);
  const second = await provide(['manager.sea']);
  await vi.waitFor(() => expect(authority.current?.certificate.certificatePem).toBe(second.certificatePem), waiting);
  expect(world.server.writes()).toEqual([]);
});

it('does not change a Secret of another owner', async () => {
  await using world = new World();
  world.server.put(Secret, { metadata: SECRET, data: { password: 'eA==' } });
  const { authority } = world.start();
  await vi.waitFor(
    () => expect(authority.problem()).toMatchObject({ code: 'BOWLINE_CERTIFICATE_SECRET_FOREIGN' }),
    waiting,
  );
  expect(world.server.writes()).toEqual([]);
});
