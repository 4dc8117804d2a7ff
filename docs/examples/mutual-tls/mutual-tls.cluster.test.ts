import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { cluster } from '@bowline/control-plane/testing';
import { Secret, Service } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { serverNameOf } from './controller.ts';
import { links } from './operator.ts';

const hasCertificate = ({ data }: Secret): boolean => Boolean(data?.['tls.crt']);

/** The content of a Secret as the options of a TLS server or client. */
function tlsOptions({ data = {} }: Secret) {
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  return { cert: text('tls.crt'), key: text('tls.key'), ca: text('ca.crt') };
}

it('gives each Service a certificate that the manager accepts, and whose server accepts the manager alone', async () => {
  await using c = await cluster({ operators: [links], prefix: 'links' });
  const team = await c.createNamespace();
  const service = { namespace: team, name: 'tea' };
  await c.admin.create(Service, {
    metadata: { ...service, labels: { 'example.com/mutual-tls': '' } },
    spec: { ports: [{ port: 443 }] },
  });
  const served = await c.until(Secret, { namespace: team, name: 'tea-tls' }, hasCertificate);
  const manager = await c.until(Secret, { namespace: c.managerNamespace, name: 'links-mtls' }, hasCertificate);
  expect(served.metadata?.ownerReferences?.[0]).toMatchObject({ kind: 'Service', name: 'tea' });
  expect(Object.keys(served.data ?? {}).sort()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);

  const server = createServer({ ...tlsOptions(served), requestCert: true, minVersion: 'TLSv1.3' });
  const names: unknown[] = [];
  server.on('secureConnection', (socket) => {
    names.push(socket.getPeerCertificate().subject.CN);
    socket.end('hello');
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const greetingOf = async (client: object, servername: string): Promise<string> => {
    const socket: TLSSocket = connect({ host: '127.0.0.1', port, servername, ...client });
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    await once(socket, 'close');
    return text;
  };
  try {
    expect(await greetingOf(tlsOptions(manager), serverNameOf(service))).toBe('hello');
    expect(names).toEqual(['manager.links']);
    await expect(greetingOf(tlsOptions(manager), 'milk.team.links')).rejects.toThrow("does not match certificate's");
    const { ca } = tlsOptions(manager);
    await expect(greetingOf({ ca }, serverNameOf(service))).rejects.toThrow('certificate required');
  } finally {
    server.close();
  }
});

it('writes nothing more once every Service has its certificate', async () => {
  await using c = await cluster({ operators: [links], prefix: 'links' });
  const metadata = { namespace: c.namespace, name: 'tea', labels: { 'example.com/mutual-tls': '' } };
  const service = await c.admin.create(Service, { metadata, spec: { ports: [{ port: 443 }] } });
  const before = await c.until(Secret, { name: 'tea-tls' }, hasCertificate);
  const labels = { ...metadata.labels, changed: 'true' };
  await c.admin.update(Service, { ...service, metadata: { ...service.metadata, labels } });
  await c.idle();
  const after = await c.admin.get(Secret, { namespace: c.namespace, name: 'tea-tls' });
  expect(after.metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
});
