import { expect, it } from 'vitest';
import { startLogServer } from '../../node-agent/log-server.ts';
import { startTestServer } from '../in-process.test-support.ts';

it('reads a log from the kubelet of the node over HTTPS', async () => {
  await using kubelet = await startLogServer();
  const t = startTestServer();
  const addresses = [{ type: 'Hostname', address: '127.0.0.1' }];
  const daemonEndpoints = { kubeletEndpoint: { Port: kubelet.port } };
  await t.call('POST', '/api/v1/nodes', { metadata: { name: 'n' }, status: { addresses, daemonEndpoints } });
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] };
  await t.call('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'a' }, spec });
  const response = await t.call('GET', '/api/v1/namespaces/default/pods/a/log');
  expect(response).toMatchObject({
    status: 200,
    headers: { 'content-type': 'text/plain' },
    body: { message: expect.stringContaining('container c of pod default/a') },
  });
});
