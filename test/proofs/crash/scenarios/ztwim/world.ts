import { until } from '@bowline/control-plane/testing';
import {
  ClusterRole,
  ConfigMap,
  Secret,
  Service,
  ServiceAccount,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { CSIDriver } from '@bowline/kubernetes/storage-v1';
import type { Client } from '@bowline/runtime/client';
import { ClusterSPIFFEID } from '../../../../../operators/ztwim/src/third-party/cluster-spiffe-id.ts';

const TIMEOUT_MS = 60_000;

/** OPERANDS is the namespace of the operands. */
export const OPERANDS = 'zero-trust-workload-identity-manager';

/** BUNDLE is a ConfigMap of users that SPIRE uses as its bundle. The operator must neither change nor delete it. */
export const BUNDLE = 'theirs-bundle';

/** makeBystanders creates objects that the operator must not touch, although they look similar to its own. */
export async function makeBystanders(admin: Client): Promise<void> {
  const labels = { 'app.kubernetes.io/name': 'spire-server', 'app.kubernetes.io/managed-by': 'someone-else' };
  const inNamespace = (name: string) => ({ namespace: OPERANDS, name, labels });
  const inCluster = { name: 'theirs', labels };
  await until(admin, ServiceAccount, { namespace: OPERANDS, name: 'default' }, () => true, { timeoutMs: TIMEOUT_MS });
  await until(admin, ConfigMap, { namespace: OPERANDS, name: 'kube-root-ca.crt' }, () => true, {
    timeoutMs: TIMEOUT_MS,
  });
  await admin.create(ConfigMap, { metadata: inNamespace(BUNDLE), data: { 'bundle.crt': '' } });
  await admin.create(ConfigMap, { metadata: inNamespace('theirs-server'), data: { 'server.conf': '{}' } });
  await admin.create(Secret, { metadata: inNamespace('theirs-tls'), stringData: { key: 'x' } });
  await admin.create(Service, { metadata: inNamespace('theirs'), spec: { ports: [{ port: 443 }] } });
  await admin.create(ClusterRole, { metadata: inCluster, rules: [] });
  await admin.create(CSIDriver, { metadata: inCluster, spec: {} });
  await admin.create(ValidatingWebhookConfiguration, { metadata: inCluster, webhooks: [] });
  await admin.create(ClusterSPIFFEID, { metadata: inCluster, spec: { spiffeIDTemplate: 'spiffe://a.io/theirs' } });
}

/** isBystander reports whether an object in the namespace of the operands, or in none, belongs to someone else. */
export function isBystander(name: string): boolean {
  return name.startsWith('theirs') || name === 'default' || name === 'kube-root-ca.crt';
}

/** untilAuthorityExists waits until the operator, which runs now, has created its certificate authority. */
export async function untilAuthorityExists(admin: Client, namespace: string): Promise<void> {
  const key = { namespace, name: 'ztwim-serving-ca' };
  await until(admin, Secret, key, ({ data }) => data?.['tls.crt'] !== undefined, { timeoutMs: TIMEOUT_MS });
}
