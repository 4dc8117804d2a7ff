import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap } from '@bowline/kubernetes';
import { connect, connectionFrom, parseKubeconfig } from '@bowline/runtime/client';
import { expect, test } from 'vitest';
import { startTestServer } from '../in-process.test-support.ts';
import { JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH } from './patch-body.ts';

const REFUSED: readonly (readonly [type: string, ...bodies: string[]])[] = [
  ['application/json', '{}'],
  [STRATEGIC_PATCH, '[]', '3', '"x"', 'true', '', '{', 'null'],
  [STRATEGIC_PATCH, '{"data":{"a":1}}', '{"data":{"a":[]}}', '{"data":"x"}', '{"data":["x"]}', '{"metadata":3}'],
  [
    STRATEGIC_PATCH,
    '{"immutable":"x"}',
    '{"more":{"b":1,"a":[null]}}',
    '{"metadata":{"finalizers":{}}}',
    '{"metadata":{"$patch":"no"}}',
  ],
  [MERGE_PATCH, '[]', '3', '"x"', 'true', '', '{', 'null'],
  [JSON_PATCH, '{}', '3', '"x"', 'true', '', '{', 'null', '[1]', '[[]]'],
];

test('refuses invalid patches and results that are not objects with the message of the real server', async () => {
  await using c = await cluster({ prefix: 'patch' });
  const { namespace } = c;
  const kubeconfig = await c.kubeconfig('admin');
  await using transport = connect(
    connectionFrom(await parseKubeconfig(JSON.stringify(kubeconfig), kubeconfig['current-context'])),
  );
  const ours = startTestServer();
  await ours.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const path = `/api/v1/namespaces/${namespace}/configmaps/a?fieldValidation=Strict`;
  await ours.call('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'a' } });
  await c.admin.create(ConfigMap, { metadata: { name: 'a', namespace } });
  for (const [type, ...bodies] of REFUSED) {
    for (const body of bodies) {
      const headers = { 'content-type': type, accept: 'application/json' };
      const response = await transport.request({ method: 'PATCH', path, lane: 'call', headers, body });
      const real = JSON.parse(await response.text()) as Record<string, unknown>;
      const actual = await ours.call('PATCH', path, body, headers);
      const { message, reason, details } = actual.body;
      expect({ code: actual.status, message, reason, details }, `${type} ${body}`).toEqual({
        code: response.status,
        message: real.message,
        reason: real.reason,
        details: real.details,
      });
    }
  }
});
