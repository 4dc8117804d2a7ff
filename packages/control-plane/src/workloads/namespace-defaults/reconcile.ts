import { ConfigMap, Namespace, type ObjectMeta, ServiceAccount } from '@bowline/kubernetes';
import { keyed, project } from '@bowline/runtime';
import { isAlreadyExists, isForbidden, isNotFound } from '@bowline/runtime/client';
import type { Controller } from '@bowline/runtime/controller';

const DEFAULT_ACCOUNT = 'default';
const ROOT_CA = 'kube-root-ca.crt';
const ROOT_CA_KEY = 'ca.crt';
const DESCRIPTION = 'kubernetes.io/description';
const ROOT_CA_NOTE =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

// Both are keyed by namespace, because what they create has no owner reference and no label that `apply` would need.
const accountSources = keyed('default-accounts', { concurrency: 4 })
  .watches(Namespace, { view: 'metadata', map: nameOf })
  .watches(ServiceAccount, { view: 'metadata', fieldSelector: `metadata.name=${DEFAULT_ACCOUNT}`, map: namespaceOf });

type AccountContext = Parameters<Parameters<(typeof accountSources)['reconcile']>[0]>[0];

/** defaultAccounts creates in every namespace the ServiceAccount that Pods run as by default. */
export const defaultAccounts = accountSources.reconcile(createAccount);

async function createAccount({ key: namespace, get, live }: AccountContext): Promise<void> {
  const key = { namespace, name: DEFAULT_ACCOUNT };
  if (!isActive(get(Namespace, { name: namespace })) || get(ServiceAccount, key)) return;
  await ignoreTerminating(live.create(ServiceAccount, { metadata: key }));
}

/** rootCertificates publishes in every namespace the certificate that Pods verify the API server with. */
export function rootCertificates(pem: string): Controller<unknown> {
  const data = { [ROOT_CA_KEY]: pem };
  const annotations = { [DESCRIPTION]: ROOT_CA_NOTE };
  // The same text in every namespace need not be cached for each of them.
  const view = project((map: ConfigMap) => ({ metadata: map.metadata ?? {}, isCurrent: isCurrent(map, pem) }));
  return keyed('root-certificates', { concurrency: 4 })
    .watches(Namespace, { view: 'metadata', map: nameOf })
    .watches(ConfigMap, { view, fieldSelector: `metadata.name=${ROOT_CA}`, map: namespaceOf })
    .reconcile(async ({ key: namespace, get, live }) => {
      const key = { namespace, name: ROOT_CA };
      const found = get(ConfigMap, key);
      if (!isActive(get(Namespace, { name: namespace })) || found?.isCurrent) return;
      if (!found) {
        await ignoreTerminating(live.create(ConfigMap, { metadata: { ...key, annotations }, data }));
        return;
      }
      const metadata = { ...found.metadata, annotations: { ...found.metadata.annotations, ...annotations } };
      await live.update(ConfigMap, { metadata, data });
    });
}

function isCurrent({ data = {}, binaryData = {}, metadata }: ConfigMap, pem: string): boolean {
  const isOnly = Object.keys(data).length === 1 && Object.keys(binaryData).length === 0;
  return isOnly && data[ROOT_CA_KEY] === pem && metadata?.annotations?.[DESCRIPTION] !== undefined;
}

/** A terminating namespace accepts no new objects, and needs none. */
async function ignoreTerminating(created: Promise<unknown>): Promise<void> {
  await created.catch((error: unknown) => {
    if (!isAlreadyExists(error) && !isForbidden(error) && !isNotFound(error)) throw error;
  });
}

function isActive(namespace: { readonly metadata: ObjectMeta } | undefined): boolean {
  return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
}

function nameOf({ metadata }: { readonly metadata: ObjectMeta }): readonly string[] {
  return [metadata.name ?? ''];
}

function namespaceOf({ metadata }: { readonly metadata: ObjectMeta }): readonly string[] {
  return [metadata.namespace ?? ''];
}
