import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { ConfigMap, Namespace, Service, ServiceAccount, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { createCertificateAuthority, issueCertificate, VirtualClock } from '@bowline/machinery';
import { type Client, createClient } from '@bowline/runtime/client';
import { describe, expect, it } from 'vitest';
import { attachControlPlane, attachmentOf } from '../access.ts';
import { connectClient } from '../connect-client.ts';
import type { Identity } from '../control-plane.ts';
import { startControlPlane } from '../start-control-plane.ts';
import type { EmbeddedControlPlane } from './embedded-control-plane.ts';

const alone = { kind: 'embedded', nodes: 0, scheduler: false, workloads: false } as const;
const key = { namespace: 'default', name: 'a' };

async function clientOf(controlPlane: EmbeddedControlPlane, identity: Identity = 'admin'): Promise<Client> {
  return createClient({ transport: await controlPlane.transport(identity), component: 'test' });
}

describe('an embedded control plane in this process', () => {
  it('serves without a socket, and has no kubeconfig', async () => {
    await using controlPlane = await startControlPlane({ ...alone, listen: false });
    await using client = await clientOf(controlPlane);
    const names = (await client.list(Namespace)).items.map(({ metadata }) => metadata?.name);
    expect(names).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system']);
    await expect(controlPlane.kubeconfig('admin')).rejects.toThrow(/has no address.*use `transport`/);
    expect(controlPlane.url).toBe('');
  });

  it('authenticates users, ServiceAccounts and anonymous requests', async () => {
    await using controlPlane = await startControlPlane({ ...alone, listen: false });
    await using admin = await clientOf(controlPlane);
    await using ann = await clientOf(controlPlane, { user: 'ann', groups: ['dev'] });
    await expect(ann.create(ConfigMap, { metadata: key })).rejects.toThrow(/User "ann" cannot create/);
    const account = { namespace: 'default', name: 'robot' };
    await expect(controlPlane.transport({ serviceAccount: account })).rejects.toThrow(
      /does not exist; create it first/,
    );
    await admin.create(ServiceAccount, { metadata: account });
    await using robot = await clientOf(controlPlane, { serviceAccount: account });
    await expect(robot.create(ConfigMap, { metadata: key })).rejects.toThrow(
      /User "system:serviceaccount:default:robot" cannot create/,
    );
  });

  it('authenticates the bearer of another token, and asks for the token again after a rejection', async () => {
    await using controlPlane = await startControlPlane({ ...alone, listen: false });
    await using admin = await clientOf(controlPlane);
    const account = { namespace: 'default', name: 'robot' };
    await admin.create(ServiceAccount, { metadata: account });
    const tokens = ['invalid', (await admin.requestToken(account)).token];
    await using robot = admin.withToken(() => (tokens.length > 1 ? tokens.shift() : tokens[0]) ?? '');
    const robotName = /User "system:serviceaccount:default:robot" cannot create/;
    await expect(robot.create(ConfigMap, { metadata: key })).rejects.toThrow(robotName);
    await admin.create(ConfigMap, { metadata: key });
  });

  it('calls webhooks behind a Service at the address provided by the embedder', async () => {
    const authority = await createCertificateAuthority({ commonName: 'test' });
    const issued = await issueCertificate({
      authority,
      commonName: 'judge',
      dnsNames: ['judge.default.svc'],
      usages: ['server'],
    });
    const judge = createServer({ cert: issued.certificatePem, key: issued.keyPem }, (request, response) => {
      void json(request).then((review) => {
        const { uid } = (review as { readonly request: { readonly uid: string } }).request;
        const verdict = { uid, allowed: false, status: { message: 'not today' } };
        response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: verdict }));
      });
    });
    await once(judge.listen(0, '127.0.0.1'), 'listening');
    const { port } = judge.address() as AddressInfo;
    const asked: unknown[] = [];
    try {
      await using controlPlane = await startControlPlane({
        ...alone,
        listen: false,
        resolveService: (service) => {
          asked.push(service);
          return { host: '127.0.0.1', port };
        },
      });
      await using client = await clientOf(controlPlane);
      const service = { namespace: 'default', name: 'judge' };
      await client.create(Service, { metadata: service, spec: { ports: [{ port: 443 }] } });
      await client.create(ValidatingWebhookConfiguration, {
        metadata: { name: 'judge' },
        webhooks: [
          {
            name: 'judge.example.com',
            clientConfig: { service, caBundle: Buffer.from(authority.certificatePem).toString('base64') },
            rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      });
      await expect(client.create(ConfigMap, { metadata: key })).rejects.toThrow(/judge.example.com.*not today/);
      expect(asked).toEqual([{ ...service, port: 443 }]);
    } finally {
      judge.close();
      judge.closeAllConnections();
    }
  });

  it('records who did what, without bodies', async () => {
    await using controlPlane = await startControlPlane({ ...alone, listen: false });
    await using client = await clientOf(controlPlane);
    await client.create(ConfigMap, { metadata: key, data: { word: 'tell-nobody' } });
    const events = await controlPlane.audit();
    expect(events.filter(({ userAgent }) => userAgent?.includes('test'))).toMatchObject([
      {
        stage: 'ResponseComplete',
        verb: 'create',
        user: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
        objectRef: { resource: 'configmaps', namespace: 'default', name: 'a', apiVersion: 'v1' },
        responseStatus: { code: 201 },
      },
    ]);
    expect(JSON.stringify(events)).not.toContain('tell-nobody');
  });
});

describe('faults of an embedded control plane', () => {
  it('fail, delay and cut only the matching requests', async () => {
    const clock = new VirtualClock();
    await using controlPlane = await startControlPlane({ ...alone, listen: false, clock });
    await using client = await clientOf(controlPlane);
    const { faults } = controlPlane;
    {
      using _ = faults.inject({
        verbs: ['create'],
        resource: 'configmaps',
        namespace: 'default',
        response: { code: 403, reason: 'Forbidden', message: 'not today' },
      });
      await expect(client.create(ConfigMap, { metadata: key })).rejects.toThrow('not today');
      await client.create(ConfigMap, { metadata: { ...key, namespace: 'kube-public' } });
    }
    faults.inject({ verbs: ['create'], times: 1, cut: 'after' });
    await expect(client.create(ConfigMap, { metadata: key })).rejects.toMatchObject({ mayHaveBeenProcessed: true });
    expect(await client.get(ConfigMap, key)).toBeDefined();

    faults.inject({ verbs: ['get'], times: 1, delayMs: 5_000 });
    let isThere = false;
    const slow = client.get(ConfigMap, key).then(() => {
      isThere = true;
    });
    await clock.advance(4_999);
    expect(isThere).toBe(false);
    await clock.advance(1);
    await slow;
  });

  it('cut watches, and block all requests while the API server is paused', async () => {
    await using controlPlane = await startControlPlane({ ...alone, listen: false });
    await using client = await clientOf(controlPlane);
    const events = (await client.watch(ConfigMap, { namespace: 'default' }))[Symbol.asyncIterator]();
    controlPlane.faults.pause('kube-apiserver');
    let isAnswered = false;
    const created = client.create(ConfigMap, { metadata: key }).then(() => {
      isAnswered = true;
    });
    await Promise.resolve();
    expect(isAnswered).toBe(false);
    controlPlane.faults.resume('kube-apiserver');
    await created;
    expect((await events.next()).value).toMatchObject({ type: 'ADDED', object: { metadata: key } });
    const next = events.next();
    controlPlane.faults.cutWatches();
    await expect(next).rejects.toMatchObject({ code: 'BOWLINE_TRANSPORT_CONNECTION_LOST' });
    expect(() => controlPlane.faults.pause('etcd')).toThrow(/etcd is not part of this control plane/);
  });

  it('return 410 to a watch from before a compaction', async () => {
    await using controlPlane = await startControlPlane({ ...alone, listen: false });
    await using client = await clientOf(controlPlane);
    const { metadata } = await client.create(ConfigMap, { metadata: key });
    await client.delete(ConfigMap, key);
    await controlPlane.faults.compact();
    const { resourceVersion } = metadata ?? {};
    const events = (await client.watch(ConfigMap, { resourceVersion }))[Symbol.asyncIterator]();
    await expect(events.next()).rejects.toMatchObject({ status: 410 });
  });
});

describe('an embedded control plane with an address', () => {
  it('serves HTTPS with a token, lets other processes attach, and leaves nothing behind', async () => {
    const controlPlane = await startControlPlane(alone);
    try {
      const kubeconfig = await controlPlane.kubeconfig('admin');
      expect(kubeconfig.users[0].user).toEqual({ token: expect.any(String) });
      await using client = await connectClient(kubeconfig);
      await client.create(ConfigMap, { metadata: key });
      const attached = await attachControlPlane(attachmentOf(controlPlane));
      await using ann = await connectClient(await attached.kubeconfig({ user: 'ann', groups: ['system:masters'] }));
      expect(await ann.get(ConfigMap, key)).toMatchObject({ metadata: key });
      const seen = await attached.audit();
      expect(seen.map(({ user, verb }) => `${user.username} ${verb}`)).toContain('ann get');
    } finally {
      await controlPlane.stop();
    }
    await expect(attachControlPlane(attachmentOf(controlPlane))).rejects.toThrow(/its certificates are missing/);
  });

  it('keeps its data across restarts of its server, and across its own with a data folder', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'bowline-embedded-test-'));
    try {
      let made: ConfigMap;
      let kubeconfig: Awaited<ReturnType<EmbeddedControlPlane['kubeconfig']>>;
      let port: number;
      {
        await using controlPlane = await startControlPlane({ ...alone, dataDir });
        kubeconfig = await controlPlane.kubeconfig('admin');
        port = Number(new URL(controlPlane.url).port);
        await using client = await connectClient(kubeconfig);
        made = await client.create(ConfigMap, { metadata: key, data: { a: '1' } });
        for (const component of ['kube-apiserver', undefined] as const) {
          await controlPlane.restart(component);
          expect(await client.get(ConfigMap, key)).toEqual(made);
        }
        await expect(startControlPlane({ ...alone, dataDir })).rejects.toThrow(
          /is used by the control plane of process/,
        );
      }
      await using again = await startControlPlane({ ...alone, dataDir });
      expect(Number(new URL(again.url).port)).toBe(port);
      // The earlier kubeconfig keeps working.
      await using client = await connectClient(kubeconfig);
      expect(await client.get(ConfigMap, key)).toEqual(made);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
