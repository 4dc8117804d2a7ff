import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, Node, type ObjectKey, Pod } from '@bowline/kubernetes';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import { expect, test } from 'vitest';
import { controller } from '../controller/builder.ts';
import { declaredPermissions, permissionsOf } from '../operator/declared-permissions.ts';
import { defineOperator } from '../operator/operator.ts';
import { allow } from '../permissions/permission.ts';
import { restrictedClient } from '../permissions/restricted-client.ts';
import { podLog } from './pod-log.ts';

type LogHandler = (query: URLSearchParams, response: ServerResponse) => void;

/** podWithLog creates a Pod on a node whose kubelet is this test's: the API server forwards requests for logs to it. */
async function podWithLog(c: Cluster, handleLog: LogHandler): Promise<ObjectKey & { readonly namespace: string }> {
  const authority = await createCertificateAuthority({ commonName: 'kubelet' });
  const { certificatePem: cert, keyPem } = await issueCertificate({
    authority,
    commonName: 'kubelet',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
  });
  const server = createServer({ cert, key: keyPem }, ({ url = '' }, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    handleLog(new URL(url, 'https://kubelet').searchParams, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  c.onDispose(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  const node = c.uniqueName('kubelet');
  await c.admin.create(Node, { metadata: { name: node } });
  c.onDispose(() => c.admin.delete(Node, { name: node }));
  const kubeletEndpoint = { Port: (server.address() as AddressInfo).port };
  const status = { addresses: [{ type: 'Hostname', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint } };
  await c.admin.patch(Node, { name: node }, { type: 'merge', body: { status } }, { subresource: 'status' });
  const key = { namespace: c.namespace, name: 'web' };
  const containers = ['app', 'sidecar'].map((name) => ({ name, image: 'none' }));
  await c.admin.create(Pod, { metadata: key, spec: { nodeName: node, containers, terminationGracePeriodSeconds: 0 } });
  return key;
}

test('reads the log of a container, and passes the options to the kubelet', async () => {
  await using c = await cluster();
  const key = await podWithLog(c, (query, response) => response.end(`${query.toString()}\n`));
  const options = { container: 'app', tailLines: 5, limitBytes: 500, sinceSeconds: 60, timestamps: true };
  const query = new URLSearchParams((await c.admin.readText(Pod, key, podLog(options))).trim());
  expect(Object.fromEntries(query)).toMatchObject({ tailLines: '5', sinceSeconds: '60', timestamps: 'true' });
  await expect(c.admin.readText(Pod, key, podLog({ container: 'none' }))).rejects.toMatchObject({
    code: 'BOWLINE_API_BAD_REQUEST',
    message: `cannot get Pod/log ${c.namespace}/web: container none is not valid for pod web`,
  });
  await expect(c.admin.readText(Pod, key, podLog({ container: 'app', tailLines: -1 }))).rejects.toMatchObject({
    code: 'BOWLINE_API_INVALID',
    message: expect.stringContaining('tailLines: Invalid value: -1: must be greater than or equal to 0'),
  });
});

test('rejects a log that is larger than maxBytes', async () => {
  await using c = await cluster();
  const key = await podWithLog(c, (_, response) => response.end('x'.repeat(100_000)));
  const reading = c.admin.readText(Pod, key, { ...podLog({ container: 'app' }), maxBytes: 1000 });
  await expect(reading).rejects.toMatchObject({ code: 'BOWLINE_TEXT_TOO_LARGE' });
});

test('follows a log line by line until the container ends', async () => {
  await using c = await cluster();
  const open: ServerResponse[] = [];
  const key = await podWithLog(c, (_, response) => {
    response.write('first\n');
    open.push(response);
  });
  const lines = (await c.admin.streamText(Pod, key, podLog({ container: 'app', follow: true })))[
    Symbol.asyncIterator
  ]();
  expect(await lines.next()).toEqual({ done: false, value: 'first' });
  open[0]?.write('\nthi');
  expect(await lines.next()).toEqual({ done: false, value: '' });
  open[0]?.end('rd');
  expect(await lines.next()).toEqual({ done: false, value: 'third' });
  expect(await lines.next()).toEqual({ done: true, value: undefined });
});

test('stops following when the signal is aborted', async () => {
  await using c = await cluster();
  const key = await podWithLog(c, (_, response) => response.write('first\n'));
  const abort = new AbortController();
  const request = { ...podLog({ container: 'app', follow: true }), signal: abort.signal };
  const lines = (await c.admin.streamText(Pod, key, request))[Symbol.asyncIterator]();
  await lines.next();
  const next = lines.next();
  abort.abort(new Error('enough'));
  await expect(next).rejects.toThrow('enough');
});

test('is allowed only for an operator that declares it', async () => {
  await using c = await cluster();
  const key = await podWithLog(c, (_, response) => response.end('hello\n'));
  const quiet = controller(ConfigMap, { namespaces: [c.namespace] }).reconcile(() => {});
  const reader = defineOperator({
    name: 'reader',
    domain: 'bowline.dev',
    controllers: [quiet],
    permissions: [allow(['get'], Pod, { subresource: 'log', namespaces: [c.namespace] })],
  });
  const rules = permissionsOf(reader).namespaces[c.namespace] ?? [];
  expect(rules).toContainEqual({ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] });
  const allowed = await c.serviceAccount({ rules });
  const client = restrictedClient(allowed.client, declaredPermissions(reader), {
    operator: 'reader',
    namespace: c.namespace,
  });
  const request = podLog({ container: 'app' });
  expect(await client.readText(Pod, key, request)).toBe('hello\n');
  await expect(client.get(Pod, key)).rejects.toMatchObject({ code: 'BOWLINE_UNDECLARED_PERMISSION' });

  const other = defineOperator({ name: 'other', domain: 'bowline.dev', controllers: [quiet] });
  const refused = restrictedClient(allowed.client, declaredPermissions(other), {
    operator: 'other',
    namespace: c.namespace,
  });
  const problem = {
    code: 'BOWLINE_UNDECLARED_PERMISSION',
    message: expect.stringContaining("add allow(['get'], Pod, { subresource: 'log' }) to the operator's permissions"),
  };
  await expect(refused.readText(Pod, key, request)).rejects.toMatchObject(problem);
  await expect(refused.streamText(Pod, key, request)).rejects.toMatchObject(problem);

  const { client: without } = await c.serviceAccount({ rules: [] });
  await expect(without.readText(Pod, key, request)).rejects.toMatchObject({ code: 'BOWLINE_API_FORBIDDEN' });
});
