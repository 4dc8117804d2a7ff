import { X509Certificate } from 'node:crypto';
import { Secret } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { OPERANDS, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';

it('scenario 50 a certificate of the OIDC discovery provider is issued where the platform issues none', async () => {
  await using c = await ztwimCluster();
  await c.createAll();
  const { data, type } = await c.until(Secret, { namespace: OPERANDS, name: 'oidc-serving-cert' }, () => true);
  expect(type).toBe('kubernetes.io/tls');
  const pem = (key: string): string => Buffer.from(data?.[key] ?? '', 'base64').toString();
  const leaf = new X509Certificate(pem('tls.crt'));
  expect(leaf.checkHost('oidc.example.io')).toBe('oidc.example.io');
  expect(leaf.checkHost(`spire-spiffe-oidc-discovery-provider.${OPERANDS}.svc`)).toBeDefined();
  expect(leaf.verify(new X509Certificate(pem('ca.crt')).publicKey)).toBe(true);
});
