import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigMap, Secret, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import {
  type CertificateWithKey,
  createCertificateAuthority,
  issueCertificate,
  seededRandom,
  systemClock,
  VirtualClock,
} from '@bowline/machinery';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { Cache } from '../../cache/cache.ts';
import { folderLocation, secretLocation } from '../../certificates/certificate-locations.ts';
import { type CertificateLocation, ExternalCertificates } from '../../certificates/external-certificates.ts';
import { readLeaf } from '../../certificates/pem.ts';
import { noTrust, type Trust } from '../../certificates/trust.ts';
import { createClient } from '../../client/create-client.ts';
import { operatorIdentity } from '../../identity/operator-identity.ts';
import { createMetrics } from '../../observability/create-metrics.ts';
import { silentLog } from '../../observability/log.ts';
import { MemoryApiServer } from '../../testing/memory-api-server.ts';
import { admit } from '../admission-response.ts';
import { webhookConfigurations } from '../configurations.ts';
import { validating } from '../declare.ts';
import { ConfigurationsTrust } from './configurations-trust.ts';
import { webhookProfile } from './webhook-certificates.ts';

const identity = operatorIdentity({ name: 'sea', domain: 'bowline.dev' });
const profile = webhookProfile(identity);
const waiting = { timeout: 10_000, interval: 10 };
let authority: CertificateWithKey;
let first: CertificateWithKey;
let second: CertificateWithKey;
const cleanUps: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  authority = await createCertificateAuthority({ commonName: 'given' });
  [first, second] = await Promise.all([issue(), issue()]);
});

const issue = (more: { dnsNames?: string[]; validForMs?: number; now?: number } = {}): Promise<CertificateWithKey> =>
  issueCertificate({ authority, commonName: 'x', dnsNames: ['x.y.svc'], usages: ['server'], ...more });

afterEach(async () => {
  for (const work of cleanUps.splice(0).reverse()) await work();
});

const fingerprint = ({ certificatePem, keyPem }: CertificateWithKey): string =>
  readLeaf('test', certificatePem, keyPem).fingerprint;

function run(location: CertificateLocation, trust: Trust = noTrust) {
  const clock = new VirtualClock({ startMs: systemClock.now() });
  const metrics = createMetrics();
  const given = new ExternalCertificates({
    profile,
    location,
    names: ['x.y.svc'],
    trust,
    clock,
    random: seededRandom(1),
    log: silentLog,
    metrics,
  });
  const stop = new AbortController();
  const running = given.run(stop.signal);
  cleanUps.push(async () => {
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });
  const serves = (certificate: CertificateWithKey): Promise<void> =>
    vi.waitFor(() => expect(given.current?.fingerprint).toBe(fingerprint(certificate)), waiting);
  return { given, clock, metrics, serves };
}

/** A mounted Secret as created by the kubelet: the files are links through `..data`, which is replaced atomically. */
async function mountedFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-given-'));
  cleanUps.push(() => rm(folder, { recursive: true, force: true }));
  let version = 0;
  const put = async (files: Record<string, string>): Promise<void> => {
    const name = `..${++version}`;
    await mkdir(join(folder, name));
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, name, file), text);
    await symlink(name, join(folder, '..data_tmp'));
    await rename(join(folder, '..data_tmp'), join(folder, '..data'));
    if (version > 1) return;
    for (const file of Object.keys(files)) await symlink(join('..data', file), join(folder, file));
  };
  return { folder, put };
}

const files = ({ certificatePem, keyPem }: CertificateWithKey) => ({ 'tls.crt': certificatePem, 'tls.key': keyPem });

it('serves the certificate in a mounted folder, and its replacement', async () => {
  const { folder, put } = await mountedFolder();
  await put(files(first));
  const { serves, metrics } = run(folderLocation(folder, profile));
  await serves(first);
  await put(files(second));
  await serves(second);
  const text = await metrics.render();
  expect(text).toContain('certwatcher_read_certificate_total 2');
  expect(text).toMatch(/bowline_webhook_certificate_expiry_timestamp_seconds\{operator="sea"\} \d{10}/);
});

it('keeps the valid certificate while the folder contains an invalid one, and reports the problem', async () => {
  const { folder, put } = await mountedFolder();
  await put(files(first));
  const { given, serves, metrics } = run(folderLocation(folder, profile));
  await serves(first);
  await put({ 'tls.crt': second.certificatePem, 'tls.key': first.keyPem });
  await vi.waitFor(() => expect(given.problem()?.message).toContain('tls.key does not belong to tls.crt'), waiting);
  expect(given.current?.fingerprint).toBe(fingerprint(first));
  expect(await metrics.render()).toMatch(/certwatcher_read_certificate_errors_total [1-9]/);
  // The first certificate of the chain is valid, so only TLS itself detects the problem.
  const junk = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  await put({ 'tls.crt': second.certificatePem + junk, 'tls.key': second.keyPem });
  await vi.waitFor(() => expect(given.problem()?.message).toContain('TLS rejects it'), waiting);
  expect(given.current?.fingerprint).toBe(fingerprint(first));
  await put(files(second));
  await serves(second);
  expect(given.problem()).toBeUndefined();
});

it.each<[string, Parameters<typeof issue>[0], string]>([
  ['has expired', { now: Date.now() - 3_600_000, validForMs: 1_800_000 }, 'the certificate has expired'],
  ['is for another host', { dnsNames: ['z.y.svc'] }, 'the certificate is not valid for x.y.svc'],
])('neither serves nor announces one that %s', async (_, wrong, text) => {
  const { server, client, cache, put } = secretServer();
  const another = await createCertificateAuthority({ commonName: 'another' });
  const trust = trustIn({ client, cache });
  const { given, serves } = run(secretLocation(cache, KEY, profile), trust);
  put(await issue(wrong), another);
  await vi.waitFor(() => expect(given.problem()?.message).toContain(`from-cert-manager: ${text}`), waiting);
  expect(given.problem()).toMatchObject({ code: 'BOWLINE_WEBHOOK_CERTIFICATE' });
  expect(given.current).toBeUndefined();
  put(first);
  await serves(first);
  const writes = server.writes().length;
  put(await issue(wrong), another);
  await vi.waitFor(() => expect(given.problem()?.message).toContain(text), waiting);
  expect(given.current?.fingerprint).toBe(fingerprint(first));
  expect(server.writes()).toHaveLength(writes);
  put(second);
  await serves(second);
  expect(given.problem()).toBeUndefined();
});

it('serves a certificate as soon as it becomes valid', async () => {
  const { folder, put } = await mountedFolder();
  const { given, clock, serves } = run(folderLocation(folder, profile));
  const early = await issue({ now: clock.now() + 3_600_000 });
  await put(files(early));
  await vi.waitFor(async () => {
    await clock.advance(10_000);
    expect(given.problem()?.message).toContain('the certificate is not valid yet');
  }, waiting);
  await clock.advance(3_600_000);
  await serves(early);
});

it('polls when no notification arrives', async () => {
  const { folder, put } = await mountedFolder();
  await put(files(first));
  const deaf: CertificateLocation = { ...folderLocation(folder, profile), watch: () => ({ [Symbol.dispose]() {} }) };
  const { clock, serves } = run(deaf);
  await serves(first);
  await put(files(second));
  await vi.waitFor(async () => {
    await clock.advance(30_000);
    await serves(second);
  }, waiting);
});

it.each<[string, Record<string, string>, string]>([
  ['no certificate', { 'tls.key': 'x' }, 'tls.crt in'],
  ['no key', { 'tls.crt': 'x' }, 'tls.key in'],
  ['an unreadable certificate', { 'tls.crt': 'x', 'tls.key': 'x' }, 'tls.crt is not a PEM certificate'],
  ['an empty certificate', { 'tls.crt': '', 'tls.key': 'x' }, 'tls.crt is missing'],
])('reports that a folder has %s', async (_, content, text) => {
  const { folder, put } = await mountedFolder();
  await put(content);
  const { given } = run(folderLocation(folder, profile));
  await vi.waitFor(() => expect(given.problem()).toMatchObject({ code: 'BOWLINE_WEBHOOK_CERTIFICATE' }), waiting);
  expect(given.problem()?.message).toContain(text);
});

it('reports an unreadable key without quoting it', async () => {
  const { folder, put } = await mountedFolder();
  await put({ 'tls.crt': first.certificatePem, 'tls.key': 'hunter2' });
  const { given } = run(folderLocation(folder, profile));
  await vi.waitFor(() => expect(given.problem()?.message).toContain('tls.key is not a PEM private key'), waiting);
  expect(given.problem()?.message).not.toContain('hunter2');
});

it('waits for a folder that does not exist yet', async () => {
  const { folder, put } = await mountedFolder();
  const { given, clock, serves } = run(folderLocation(folder, profile));
  await vi.waitFor(() => expect(given.problem()).toBeDefined(), waiting);
  await put(files(first));
  await clock.advance(10_000);
  await serves(first);
});

const KEY = { namespace: 'sea-system', name: 'from-cert-manager' };

function secretServer() {
  const server = new MemoryApiServer();
  server.serve(ValidatingWebhookConfiguration);
  const client = createClient({ transport: server.transport() });
  const cache = new Cache({ client, wire: systemClock });
  const stop = new AbortController();
  const running = cache.run(stop.signal);
  cleanUps.push(async () => {
    stop.abort();
    await running;
  });
  const put = (pair: CertificateWithKey, { certificatePem } = authority): void => {
    const data = { ...files(pair), 'ca.crt': certificatePem };
    const encoded = Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]);
    server.put(Secret, { metadata: KEY, type: 'kubernetes.io/tls', data: Object.fromEntries(encoded) });
  };
  return { server, client, cache, put };
}

/** trustIn creates and manages the configuration of a webhook. */
function trustIn({ client, cache }: Pick<ReturnType<typeof secretServer>, 'client' | 'cache'>): Trust {
  const webhook = validating(ConfigMap, { name: 'gate', operations: ['CREATE'] }).handle(() => admit());
  const address = { url: 'https://127.0.0.1:1' };
  const wanted = webhookConfigurations({
    operator: 'sea',
    domain: 'bowline.dev',
    webhooks: [webhook],
    ownNamespace: 'sea-system',
    address,
  });
  const common = { client, cache, identity, clock: systemClock, log: silentLog };
  return new ConfigurationsTrust({ ...common, wanted, own: true });
}

it('serves the certificate in a Secret of cert-manager, and its replacement', async () => {
  const { server, cache, put } = secretServer();
  const { given, serves } = run(secretLocation(cache, KEY, profile));
  await vi.waitFor(() => expect(given.problem()?.message).toContain('does not exist'), waiting);
  put(first);
  await serves(first);
  put(second);
  await serves(second);
  server.remove(Secret, KEY);
  await vi.waitFor(() => expect(given.problem()).toBeDefined(), waiting);
  expect(given.current?.fingerprint).toBe(fingerprint(second));
  expect(server.writes()).toEqual([]);
});

it('writes the external CA into the configurations if configured to', async () => {
  const { server, client, cache, put } = secretServer();
  put(first);
  const trust = trustIn({ client, cache });
  const { serves } = run(secretLocation(cache, KEY, profile), trust);
  await serves(first);
  const made = server.get(ValidatingWebhookConfiguration, { name: 'bowline-sea' });
  expect(made?.webhooks?.[0]?.clientConfig).toEqual({
    url: 'https://127.0.0.1:1/sea/gate',
    caBundle: Buffer.from(authority.certificatePem).toString('base64'),
  });
});
