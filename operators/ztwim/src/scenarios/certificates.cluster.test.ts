import { X509Certificate } from 'node:crypto';
import { Deployment, Secret } from '@bowline/kubernetes';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { OIDC_PROVIDER } from '../spire/names.ts';
import { COMPLETE, OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';

const SECRET = { namespace: OPERANDS, name: 'oidc-serving-cert' };
const DAY_MS = 86_400_000;

let c: ZtwimCluster;
beforeAll(async () => {
  c = await ztwimCluster({ leaderElection: false });
  await c.createOne(ZeroTrustWorkloadIdentityManager, COMPLETE);
  await c.createOne(SpireOIDCDiscoveryProvider);
});
afterAll(() => c[Symbol.asyncDispose]());

const certificateOf = ({ data }: Secret, key = 'tls.crt'): X509Certificate =>
  new X509Certificate(Buffer.from(data?.[key] ?? '', 'base64'));

it('scenario 50 a certificate of the OIDC discovery provider is issued where the platform issues none', async () => {
  const secret = await c.until(Secret, SECRET, () => true);
  expect(secret.type).toBe('kubernetes.io/tls');
  const leaf = certificateOf(secret);
  expect(leaf.checkHost('oidc.example.io')).toBe('oidc.example.io');
  expect(leaf.checkHost(`${OIDC_PROVIDER}.${OPERANDS}.svc`)).toBeDefined();
  expect(leaf.verify(certificateOf(secret, 'ca.crt').publicKey)).toBe(true);
  expect(Math.round((Date.parse(leaf.validTo) - Date.now()) / DAY_MS)).toBe(90);
});

it('scenario 50 the certificate is renewed after two thirds of its time, without a rollout', async () => {
  const before = certificateOf(await c.admin.get(Secret, SECRET));
  const workload = { namespace: OPERANDS, name: OIDC_PROVIDER };
  const { metadata } = await c.until(Deployment, workload, () => true);
  await c.idle();
  await c.advanceTime(59 * DAY_MS, 10 * DAY_MS);
  expect(certificateOf(await c.admin.get(Secret, SECRET)).serialNumber).toBe(before.serialNumber);
  await c.advanceTime(2 * DAY_MS, DAY_MS);
  const renewed = await c.until(Secret, SECRET, (each) => certificateOf(each).serialNumber !== before.serialNumber);
  expect(Date.parse(certificateOf(renewed).validTo)).toBeGreaterThan(Date.parse(before.validTo));
  expect((await c.admin.get(Deployment, workload)).metadata?.generation).toBe(metadata?.generation);
});
