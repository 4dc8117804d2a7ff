import { X509Certificate } from 'node:crypto';
import { Secret, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { createCertificateAuthority } from '@bowline/machinery';
import { expect, it, vi } from 'vitest';
import { readAuthorities } from '../../certificates/pem.ts';
import { CertificateWorld, CONFIGURATION, DAY_MS, SECRET } from './certificate-world.test-support.ts';

const settled = (world: CertificateWorld): Promise<void> =>
  vi.waitFor(() => expect(world.isSettled()).toBe(true), waiting);
const waiting = { timeout: 15_000, interval: 5 };
vi.setConfig({ testTimeout: 40_000 });
const authorities = (bundle: string | undefined): string[] =>
  readAuthorities(bundle ?? '').map((each) => each.fingerprint);

it('creates one CA and one certificate for replicas that start together', async () => {
  await using world = new CertificateWorld();
  for (let i = 0; i < 4; i++) world.start();
  await settled(world);
  expect(world.violations).toEqual([]);
  expect(authorities(world.bundle())).toHaveLength(1);
  const leaf = new X509Certificate(world.secret()['tls.crt'] ?? '');
  expect(leaf.subjectAltName).toBe('DNS:sea-webhook.sea-system.svc');
  expect(Date.parse(leaf.validTo) - world.clock.now()).toBe(90 * DAY_MS);
  expect(world.server.get(Secret, SECRET)).toMatchObject({
    type: 'kubernetes.io/tls',
    metadata: { labels: { 'webhook.bowline.dev/operator': 'sea' } },
  });
});

it('writes nothing in a steady state, not even after a restart', async () => {
  await using world = new CertificateWorld();
  const first = world.start();
  await settled(world);
  await first.stop();
  const writes = world.server.writes().length;
  world.start();
  world.start();
  await settled(world);
  await world.clock.advance(59 * DAY_MS);
  expect(world.server.writes()).toHaveLength(writes);
});

it('renews the certificate from the same CA when a third of its lifetime is left', async () => {
  await using world = new CertificateWorld();
  for (let i = 0; i < 3; i++) world.start();
  await settled(world);
  const before = world.leaf();
  const bundle = world.bundle();
  await world.clock.advance(60 * DAY_MS - 1);
  expect(world.leaf()).toBe(before);
  await world.clock.advance(1);
  await vi.waitFor(() => expect(world.leaf()).not.toBe(before), waiting);
  await settled(world);
  expect(world.bundle()).toBe(bundle);
  expect(world.violations).toEqual([]);
});

it('publishes a new CA before it issues, and keeps the old one until its last certificate has expired', async () => {
  await using world = new CertificateWorld();
  for (let i = 0; i < 3; i++) world.start();
  await settled(world);
  const [old] = authorities(world.bundle());
  const oldKey = world.secret()['ca.key'];

  // To two thirds of the CA's year, through the renewals on the way.
  const end = world.clock.now() + Math.ceil((365 * DAY_MS * 2) / 3);
  while (world.clock.now() < end) {
    await world.clock.advance(Math.min(10 * DAY_MS, end - world.clock.now()));
    await settled(world);
  }
  await vi.waitFor(() => expect(world.secret()['ca-next.key']).toBeDefined(), waiting);
  await settled(world);
  const introduced = authorities(world.bundle());
  expect(introduced).toHaveLength(2);
  const leafOfOld = world.leaf();
  await world.clock.advance(119_000);
  expect(world.leaf()).toBe(leafOfOld);

  await world.clock.advance(2_000);
  await vi.waitFor(() => expect(world.leaf()).not.toBe(leafOfOld), waiting);
  await settled(world);
  const promoted = world.secret();
  expect(promoted['ca-next.key']).toBeUndefined();
  expect(Object.values(promoted)).not.toContain(oldKey);
  expect(authorities(world.bundle())).toEqual([introduced[1], old]);

  await world.clock.advance(30 * DAY_MS);
  await settled(world);
  expect(authorities(world.bundle())).toContain(old);
  for (let i = 0; i < 7; i++) {
    await world.clock.advance(10 * DAY_MS);
    await settled(world);
  }
  await vi.waitFor(() => expect(authorities(world.bundle())).toEqual([introduced[1]]), waiting);
  expect(world.violations).toEqual([]);
});

it('does not issue from a new CA while one configuration does not trust it', async () => {
  await using world = new CertificateWorld();
  world.start();
  await settled(world);
  const before = world.leaf();
  world.server.rejectWith = ({ method, path }) =>
    method !== 'GET' && path.includes('webhookconfigurations') ? 403 : undefined;
  world.server.remove(Secret, SECRET);
  await vi.waitFor(() => expect(world.secret()['ca-next.key']).toBeDefined(), waiting);
  for (let i = 0; i < 5; i++) await world.clock.advance(600_000);
  expect(world.leaf()).toBe(before);
  world.server.rejectWith = () => undefined;
  await vi.waitFor(async () => {
    await world.clock.advance(60_000);
    expect(world.leaf()).not.toBe(before);
  }, waiting);
  await settled(world);
  expect(world.violations).toEqual([]);
});

it.each<[string, Record<string, string | undefined>]>([
  ['the key of the certificate', { 'tls.key': 'nonsense' }],
  ['the certificate', { 'tls.crt': '' }],
  ['the bundle', { 'ca.crt': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' }],
  ['the key of the CA', { 'ca.key': undefined }],
  ['everything', { 'ca.key': 'a', 'ca.crt': 'b', 'tls.crt': 'c', 'tls.key': undefined }],
])('repairs a Secret in which %s is damaged from the state of a replica', async (_, change) => {
  await using world = new CertificateWorld();
  world.start();
  world.start();
  await settled(world);
  const before = world.secret();
  world.damage(change);
  expect(world.secret()).not.toEqual(before);
  await vi.waitFor(() => expect(world.secret()).toEqual(before), waiting);
  await settled(world);
  expect(world.violations).toEqual([]);
});

it.each<
  [string, Record<string, string | undefined>, (before: Record<string, string>, after: Record<string, string>) => void]
>([
  [
    'the key of the certificate: a new certificate from the same CA',
    { 'tls.key': 'nonsense' },
    (before, after) => {
      expect(after['tls.crt']).not.toBe(before['tls.crt']);
      expect(after['ca.key']).toBe(before['ca.key']);
    },
  ],
  [
    'the bundle: it is restored from the configuration',
    { 'ca.crt': 'nonsense' },
    (before, after) => expect(after).toEqual(before),
  ],
  [
    'the key of the CA: the certificate stays in use while a new CA is introduced',
    { 'ca.key': 'nonsense' },
    (before, after) => {
      expect(after['tls.crt']).toBe(before['tls.crt']);
      expect(after['ca.key']).toBeUndefined();
      expect(after['ca-next.key']).toBeDefined();
      expect(authorities(after['ca.crt'])).toContain(authorities(before['ca.crt'])[0]);
    },
  ],
  [
    'everything: all is recreated, and certificates that others may still serve stay trusted',
    { 'ca.key': 'a', 'ca.crt': 'b', 'tls.crt': 'c', 'tls.key': 'd' },
    (before, after) => {
      expect(after['ca.key']).not.toBe(before['ca.key']);
      expect(authorities(after['ca.crt'])).toHaveLength(2);
      expect(authorities(after['ca.crt'])[1]).toBe(authorities(before['ca.crt'])[0]);
    },
  ],
])('repairs a Secret that was damaged while no replica ran; %s', async (_, change, judge) => {
  await using world = new CertificateWorld();
  await using first = { [Symbol.asyncDispose]: () => Promise.resolve(), ...world.start() };
  await settled(world);
  await first.stop();
  const before = { ...world.secret() };
  world.damage(change);
  const damaged = { ...world.secret() };
  world.start();
  await vi.waitFor(() => expect(world.secret()).not.toEqual(damaged), waiting);
  await settled(world);
  judge(before, { ...world.secret() });
});

it('rotates the keys without a gap when the Secret is deleted', async () => {
  await using world = new CertificateWorld();
  world.start();
  world.start();
  await settled(world);
  const before = world.secret();
  world.server.remove(Secret, SECRET);
  await vi.waitFor(() => expect(world.secret()['ca-next.key']).toBeDefined(), waiting);
  expect(world.secret()['tls.crt']).toBe(before['tls.crt']);
  await settled(world);
  await vi.waitFor(async () => {
    await world.clock.advance(60_000);
    expect(world.secret()['ca-next.key']).toBeUndefined();
  }, waiting);
  await settled(world);
  expect(world.secret()['ca.key']).not.toBe(before['ca.key']);
  expect(world.secret()['tls.crt']).not.toBe(before['tls.crt']);
  expect(world.violations).toEqual([]);
});

it('removes an old CA immediately when its expiry annotation is set to the past', async () => {
  await using world = new CertificateWorld();
  world.start();
  await settled(world);
  world.server.remove(Secret, SECRET);
  await vi.waitFor(async () => {
    await world.clock.advance(60_000);
    expect(
      world.server.get(Secret, SECRET)?.metadata?.annotations?.['webhook.bowline.dev/previous-ca-until'],
    ).toBeDefined();
  }, waiting);
  const found = world.server.get(Secret, SECRET) ?? {};
  const annotations = { 'webhook.bowline.dev/previous-ca-until': new Date(world.clock.now() - 1).toISOString() };
  world.server.put(Secret, { ...found, metadata: { ...found.metadata, annotations } });
  await vi.waitFor(() => expect(authorities(world.bundle())).toHaveLength(1), waiting);
  await settled(world);
});

it('keeps serving a trusted certificate when the Secret gets one that the API server does not trust', async () => {
  await using world = new CertificateWorld();
  const replica = world.start();
  await settled(world);
  const before = replica.certificates.current?.fingerprint;
  const stranger = new CertificateWorld();
  const other = stranger.start();
  await settled(stranger);
  await other.stop();
  world.server.rejectWith = ({ method, path }) =>
    method !== 'GET' && path.includes('webhookconfigurations') ? 500 : undefined;
  world.damage({ ...stranger.secret() });
  await vi.waitFor(() => expect(replica.certificates.problem()).toBeDefined(), waiting);
  expect(replica.certificates.current?.fingerprint).toBe(before);
  expect(world.violations).toEqual([]);
  world.server.rejectWith = () => undefined;
  await vi.waitFor(async () => {
    await world.clock.advance(60_000);
    expect(replica.certificates.current?.fingerprint).toBe(stranger.leaf());
  }, waiting);
  expect(world.violations).toEqual([]);
});

it('does not let a lagging replica remove a new CA', async () => {
  await using world = new CertificateWorld();
  world.start();
  const lagging = world.start();
  await settled(world);
  const before = lagging.certificates.current?.fingerprint;
  world.server.rejectWith = ({ user, path }) =>
    user === lagging.name && path.includes('/secrets') && path.includes('watch=') ? 503 : undefined;
  const watches = (): number =>
    world.server.requests.filter(({ user, path }) => user === 'replica-1' && path.includes('watch=')).length;
  const open = watches();
  world.server.closeWatches();
  await vi.waitFor(() => expect(watches()).toBe(open + 2), waiting);
  world.server.remove(Secret, SECRET);
  await vi.waitFor(async () => {
    await world.clock.advance(60_000);
    expect(world.leaf() ?? before).not.toBe(before);
  }, waiting);
  await vi.waitFor(() => expect(world.bundle()).toBe(world.secret()['ca.crt']), waiting);
  const bundle = world.bundle();
  // It sees the configuration change and, based on its outdated view of the Secret, would restore the old bundle.
  const found = world.server.get(ValidatingWebhookConfiguration, CONFIGURATION) ?? {};
  world.server.put(ValidatingWebhookConfiguration, {
    ...found,
    metadata: { ...found.metadata, annotations: { a: 'b' } },
  });
  for (let i = 0; i < 3; i++) await world.clock.advance(5_000);
  expect(world.bundle()).toBe(bundle);
  expect(lagging.certificates.current?.fingerprint).toBe(before);
  expect(world.violations).toEqual([]);
});

it('issues a new certificate when the name it is called by changes', async () => {
  await using world = new CertificateWorld();
  const first = world.start();
  await settled(world);
  await first.stop();
  world.start({ names: ['127.0.0.1', 'localhost'] });
  await vi.waitFor(
    () =>
      expect(new X509Certificate(world.secret()['tls.crt'] ?? '').subjectAltName).toBe(
        'DNS:localhost, IP Address:127.0.0.1',
      ),
    waiting,
  );
});

it('does not touch a Secret created by others, and reports it', async () => {
  await using world = new CertificateWorld();
  world.server.put(Secret, { metadata: SECRET, data: { 'tls.crt': 'Zm9v' } });
  const replica = world.start();
  await vi.waitFor(
    () => expect(replica.certificates.problem()).toMatchObject({ code: 'BOWLINE_WEBHOOK_SECRET_FOREIGN' }),
    waiting,
  );
  expect(world.secret()).toEqual({ 'tls.crt': 'foo' });
  expect(world.server.writes()).toEqual([]);
  world.server.remove(Secret, SECRET);
  await settled(world);
  expect(replica.certificates.problem()).toBeUndefined();
});

it('writes no bundle into a configuration created by others, and does not trust its CAs', async () => {
  await using world = new CertificateWorld();
  const ours = world.server.get(ValidatingWebhookConfiguration, CONFIGURATION) ?? {};
  const { certificatePem: stranger } = await createCertificateAuthority({ commonName: 'stranger' });
  const caBundle = Buffer.from(stranger).toString('base64');
  const webhooks = ours.webhooks?.map((each) => ({ ...each, clientConfig: { ...each.clientConfig, caBundle } }));
  world.server.put(ValidatingWebhookConfiguration, { ...ours, metadata: CONFIGURATION, webhooks });
  const { certificates } = world.start();
  await vi.waitFor(
    () => expect(certificates.problem()).toMatchObject({ code: 'BOWLINE_WEBHOOK_CONFIGURATION_FOREIGN' }),
    waiting,
  );
  expect(world.bundle()).toBe(stranger);
  expect(world.secret()['ca.crt']).toContain('BEGIN CERTIFICATE');
  expect(world.secret()['ca.crt']).not.toContain(stranger.trim());
  // Labelling it assigns it to the operator.
  world.server.put(ValidatingWebhookConfiguration, ours);
  await settled(world);
  expect(certificates.problem()).toBeUndefined();
});

it('does not fight forever with another writer of the bundle', async () => {
  await using world = new CertificateWorld();
  const replica = world.start();
  await settled(world);
  let put = 0;
  const rival = (): void => {
    const found = world.server.get(ValidatingWebhookConfiguration, CONFIGURATION);
    if (!found || world.bundle() === '') return;
    const webhooks = found.webhooks?.map((each) => ({ ...each, clientConfig: { ...each.clientConfig, caBundle: '' } }));
    world.server.put(ValidatingWebhookConfiguration, { ...found, webhooks });
    put++;
  };
  rival();
  const contested = (): Promise<void> =>
    vi.waitFor(() => {
      rival();
      expect(replica.certificates.problem()).toMatchObject({ code: 'BOWLINE_WEBHOOK_CONTESTED' });
    }, waiting);
  await contested();
  // The first write at the start counts too.
  expect(put).toBe(5);
  await world.clock.advance(300_000);
  expect(world.bundle()).toBe('');
  await world.clock.advance(600_000);
  await settled(world);
  expect(replica.certificates.problem()).toBeUndefined();
});

it('does not fight forever with another writer that keeps damaging the Secret', async () => {
  await using world = new CertificateWorld();
  const replica = world.start();
  await settled(world);
  await vi.waitFor(() => {
    if (world.secret()['ca.key'] !== 'damaged') world.damage({ 'ca.key': 'damaged' });
    expect(replica.certificates.problem()).toMatchObject({ code: 'BOWLINE_WEBHOOK_CONTESTED' });
  }, waiting);
  expect(world.server.writes().filter((each) => each.startsWith('PUT') && each.includes('/secrets/'))).toHaveLength(4);
  await world.clock.advance(700_000);
  await settled(world);
});

it('uses an existing empty Secret', async () => {
  await using world = new CertificateWorld();
  world.server.put(Secret, { metadata: SECRET, type: 'Opaque' });
  world.start();
  await settled(world);
  expect(world.server.get(Secret, SECRET)?.type).toBe('Opaque');
});

it('reports why it cannot write, and continues when it can', async () => {
  await using world = new CertificateWorld();
  world.server.rejectWith = ({ method }) => (method === 'POST' ? 403 : undefined);
  const replica = world.start();
  await vi.waitFor(
    () => expect(replica.certificates.problem()).toMatchObject({ code: 'BOWLINE_API_FORBIDDEN' }),
    waiting,
  );
  expect(replica.certificates.current).toBeUndefined();
  world.server.rejectWith = () => undefined;
  await world.clock.advance(60_000);
  await settled(world);
});

it('starts over after everything has expired', async () => {
  await using world = new CertificateWorld();
  const first = world.start();
  await settled(world);
  await first.stop();
  const before = world.leaf();
  await world.clock.advance(400 * DAY_MS);
  world.start();
  await vi.waitFor(() => expect(world.leaf()).not.toBe(before), waiting);
  await settled(world);
  expect(authorities(world.bundle())).toHaveLength(1);
});

it('creates a configuration it owns, and does not change one it does not own', async () => {
  await using world = new CertificateWorld();
  world.server.remove(ValidatingWebhookConfiguration, CONFIGURATION);
  world.start({ own: true });
  await settled(world);
  const made = world.server.get(ValidatingWebhookConfiguration, CONFIGURATION) ?? {};
  world.server.put(ValidatingWebhookConfiguration, {
    ...made,
    metadata: { ...made.metadata, labels: {} },
    webhooks: [],
  });
  const second = world.start({ own: true });
  await vi.waitFor(
    () => expect(second.certificates.problem()).toMatchObject({ code: 'BOWLINE_WEBHOOK_CONFIGURATION_FOREIGN' }),
    waiting,
  );
  expect(world.server.get(ValidatingWebhookConfiguration, CONFIGURATION)?.webhooks).toEqual([]);
});

it('logs steps and fingerprints, and no part of a key', async () => {
  await using world = new CertificateWorld();
  world.start();
  await settled(world);
  const keys = [world.secret()['tls.key'], world.secret()['ca.key']];
  world.damage({ 'tls.key': keys[0]?.slice(0, 120) });
  await vi.waitFor(() => expect(world.secret()['tls.key']).toBe(keys[0]), waiting);
  world.damage({ 'ca.key': 'hunter2' });
  await vi.waitFor(() => expect(world.secret()['ca.key']).toBe(keys[1]), waiting);
  const log = world.logged.join('');
  expect(log).toContain('wrote the webhook certificates');
  for (const key of keys) {
    const body = key?.split('\n')[1] ?? '';
    expect(body.length).toBeGreaterThan(40);
    expect(log).not.toContain(body);
    expect(log).not.toContain(
      Buffer.from(key ?? '')
        .toString('base64')
        .slice(0, 60),
    );
  }
  expect(log).not.toContain('hunter2');
});

it('does not trust a certificate that is not a CA', async () => {
  const { certificatePem } = await createCertificateAuthority({ commonName: 'x' });
  await using world = new CertificateWorld();
  world.start();
  await settled(world);
  const leaf = world.secret()['tls.crt'] ?? '';
  expect(readAuthorities(`${leaf}junk${certificatePem}${certificatePem}`)).toHaveLength(1);
});
