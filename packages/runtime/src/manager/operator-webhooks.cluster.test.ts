import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { type KubernetesObject, Lease, type Resource, Secret } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { expect, it, vi } from 'vitest';
import { controller } from '../controller/builder.ts';
import { defineOperator } from '../operator/operator.ts';
import { defineResource } from '../resource/define-resource.ts';
import { admit, deny } from '../webhook/admission-response.ts';
import { validating } from '../webhook/declare.ts';

const group = 'webhooks.test.bowline.dev';
const common = { group, version: 'v1', scope: 'Namespaced', spec: s.object({ color: s.string() }) } as const;
const Guarded = defineResource({ ...common, kind: 'Guarded' });
const Watched = defineResource({ ...common, kind: 'Watched' });

const colors = validating(Guarded, { name: 'colors', operations: ['CREATE'], failurePolicy: 'Fail' }).handle(
  ({ object }) => (object.spec.color === 'red' ? deny('red is taken') : admit()),
);
const shades = validating(Watched, { name: 'shades', operations: ['CREATE'], failurePolicy: 'Fail' }).handle(
  ({ object }) => (object.spec.color === 'grey' ? deny('grey is no shade') : admit()),
);
const guard = defineOperator({ name: 'guard', domain: 'bowline.dev', resources: [Guarded], webhooks: [colors] });
const watch = defineOperator({ name: 'watch', domain: 'bowline.dev', resources: [Watched], webhooks: [shades] });

const paint = (c: Cluster, kind: Resource<KubernetesObject>, color: string, namespace = c.namespace) =>
  c.admin.create(kind, { metadata: { namespace, generateName: 'a-' }, spec: { color } } as KubernetesObject);

async function expectBothServed(c: Cluster): Promise<void> {
  await expect(paint(c, Guarded, 'red')).rejects.toThrow(/red is taken/);
  await expect(paint(c, Watched, 'grey')).rejects.toThrow(/grey is no shade/);
  await paint(c, Guarded, 'grey');
  await paint(c, Watched, 'red');
}

it('serves the webhooks of an operator under its own account, in every namespace of the test, even after a restart', async () => {
  await using c = await cluster({ operators: [guard], prefix: 'guard' });
  const other = await c.createNamespace();
  for (const namespace of [c.namespace, other]) {
    await expect(paint(c, Guarded, 'red', namespace)).rejects.toThrow(/red is taken/);
    await paint(c, Guarded, 'blue', namespace);
  }
  await c.restart();
  await expect(paint(c, Guarded, 'red')).rejects.toThrow(/red is taken/);
  await paint(c, Guarded, 'blue');
});

it('serves two operators on one listener behind a Service each, and rotates the certificates of both', async () => {
  await using c = await cluster({
    operators: [guard, watch],
    prefix: 'two',
    webhooks: { reachedAt: 'services', certificates: { kind: 'managed', propagationMs: 200 } },
  });
  const ports = c.manager.status().map(({ webhookPort }) => webhookPort);
  expect(new Set(ports).size).toBe(1);
  await expectBothServed(c);

  const names = ['guard-webhook-tls', 'watch-webhook-tls'];
  const keys = names.map((name) => ({ namespace: c.managerNamespace, name }));
  const before = await Promise.all(keys.map((key) => c.admin.get(Secret, key)));
  expect(before[0]?.data?.['ca.crt']).not.toBe(before[1]?.data?.['ca.crt']);
  // Deleting a Secret requests new keys.
  await Promise.all(keys.map((key) => c.admin.delete(Secret, key)));
  for (const [index, key] of keys.entries()) {
    await c.until(
      Secret,
      key,
      ({ data }) => data?.['ca.key'] !== before[index]?.data?.['ca.key'] && data?.['ca-next.key'] === undefined,
    );
  }
  for (const { metadata, data } of await Promise.all(keys.map((key) => c.admin.get(Secret, key)))) {
    const host = metadata?.name?.replace('-tls', '');
    const served = () => certificateAt(ports[0] ?? 0, `${host}.${c.managerNamespace}.svc`);
    const wanted = new X509Certificate(Buffer.from(data?.['tls.crt'] ?? '', 'base64')).fingerprint256;
    await vi.waitFor(async () => expect(await served()).toBe(wanted), { timeout: 20_000 });
  }
  await expectBothServed(c);
});

/** certificateAt returns the fingerprint of the certificate served for a server name. */
function certificateAt(port: number, servername: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

it('serves the webhooks of all until the last operator has drained, when one loses its Lease', async () => {
  let begun = false;
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow = defineOperator({
    name: 'watch',
    domain: 'bowline.dev',
    resources: [Watched],
    webhooks: [shades],
    controllers: [
      controller(Watched, { name: 'slow' }).reconcile(async () => {
        begun = true;
        await held;
      }),
    ],
  });
  await using c = await cluster({
    operators: [guard, slow],
    prefix: 'lost',
    webhooks: { reachedAt: 'services' },
    leaderElection: { leaseDurationMs: 6_000, renewDeadlineMs: 4_000, retryPeriodMs: 500 },
  });
  await paint(c, Watched, 'blue');
  await vi.waitFor(() => expect(begun).toBe(true), { timeout: 20_000 });
  const lease = { namespace: c.managerNamespace, name: 'bowline-guard' };
  await c.admin.patch(Lease, lease, { type: 'merge', body: { spec: { holderIdentity: 'another' } } });
  const stateOf = (name: string) => c.manager.status().find((each) => each.name === name)?.state;
  await vi.waitFor(() => expect([stateOf('guard'), stateOf('watch')]).toEqual(['draining', 'draining']), {
    timeout: 20_000,
  });
  await expectBothServed(c);
  release();
  await expect(c.stop()).rejects.toMatchObject({ code: 'BOWLINE_LEADERSHIP_LOST' });
  await expect(paint(c, Watched, 'blue')).rejects.toThrow(/failed calling webhook/);
});
