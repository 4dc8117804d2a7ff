import { CustomResourceDefinition, type DaemonSet, type Deployment } from '@bowline/kubernetes';
import type { JSONSchemaProps } from '@bowline/kubernetes/apiextensions-v1';
import type { Client } from '@bowline/runtime/client';
import type { CustomResource } from '@bowline/runtime/resource';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { HSMSecret } from '../api/hsm-secret.ts';
import { LABELS } from '../api/names.ts';

/** OlderShape is `status` for HSMDevices with a status and no pools, `pool` for pools that name no HSMDevice. */
export type OlderShape = 'status' | 'pool';

const text: JSONSchemaProps = { type: 'string' };
const object = (properties: Readonly<Record<string, JSONSchemaProps>>): JSONSchemaProps => ({
  type: 'object',
  properties,
});
const anything: JSONSchemaProps = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const OLDER_SPECS: Readonly<Record<string, JSONSchemaProps>> = {
  [HSMDevice.kind]: object({
    deviceType: text,
    discovery: object({
      autoDiscovery: { type: 'boolean', default: false },
      usb: object({ vendorId: text, productId: text, serialNumber: text }),
    }),
    nodeSelector: { type: 'object', additionalProperties: text },
    pkcs11: object({ slotId: { type: 'integer', default: 0 }, pinSecret: object({ name: text, key: text }) }),
    pkcs11LibraryPath: text,
    maxDevices: { type: 'integer', default: 10 },
  }),
  [HSMPool.kind]: object({ gracePeriod: { type: 'string', default: '5m0s' }, comment: text }),
  [HSMSecret.kind]: object({
    parentRef: object({ name: text, namespace: text }),
    autoSync: { type: 'boolean', default: true },
    syncInterval: { type: 'integer', default: 30 },
  }),
};

/** installOlderDefinitions replaces the definitions of all kinds by those of an older operator. */
export async function installOlderDefinitions(admin: Client, shape: OlderShape): Promise<void> {
  for (const resource of [HSMDevice, HSMSecret, HSMPool]) {
    const name = resource.crd.metadata?.name ?? '';
    if (resource === HSMPool && shape === 'status') {
      await admin.delete(CustomResourceDefinition, { name });
      continue;
    }
    const stored = await admin.get(CustomResourceDefinition, { name });
    const older = olderDefinition(resource, resource !== HSMDevice || shape === 'status');
    // One empty entry removes the record that ours was applied.
    const metadata = { ...stored.metadata, managedFields: [{}], labels: {} };
    await admin.update(CustomResourceDefinition, { ...stored, metadata, spec: older.spec }, { fieldManager: 'helm' });
  }
}

function olderDefinition({ crd, kind }: CustomResource, hasStatus: boolean): CustomResourceDefinition {
  const { categories: _, ...names } = crd.spec.names;
  const properties = { spec: OLDER_SPECS[kind] ?? anything, ...(hasStatus ? { status: anything } : {}) };
  return {
    ...crd,
    spec: {
      ...crd.spec,
      names,
      versions: crd.spec.versions.map(({ name, served, storage }) => ({
        ...{ name, served, storage },
        schema: { openAPIV3Schema: object(properties) },
        subresources: hasStatus ? { status: {} } : {},
      })),
    },
  };
}

const OLDER_LABELS = { [LABELS.name]: 'hsm-secrets-operator' };

/** olderManager returns the Deployment of the older operator. */
export function olderManager(namespace: string): Deployment {
  const labels = { ...OLDER_LABELS, 'control-plane': 'controller-manager' };
  return workload(namespace, 'hsm-controller-manager', labels, { name: 'manager', args: ['--mode=manager'] });
}

/** olderAgent returns an agent of the older operator, which has no owner. */
export function olderAgent(namespace: string, device: string, serialNumber: string): Deployment {
  const labels = { ...OLDER_LABELS, [LABELS.name]: 'hsm-agent', [LABELS.component]: 'agent', [LABELS.device]: device };
  return workload(namespace, `hsm-agent-${device}-${serialNumber}`, labels, { name: 'agent' });
}

/** olderDiscovery returns the DaemonSet of discovery of the older operator. */
export function olderDiscovery(device: HSMDevice): DaemonSet {
  const { namespace = '', name = '', uid = '' } = device.metadata ?? {};
  const labels = { ...OLDER_LABELS, [LABELS.component]: 'discovery', [LABELS.device]: name };
  const { spec } = workload(namespace, '', labels, { name: 'discovery' });
  const owner = { apiVersion: 'hsm.j5t.io/v1alpha1', kind: 'HSMDevice', name, uid, controller: true };
  const template = spec?.template ?? {};
  const { nodeSelector } = device.spec;
  const tolerations = [{ key: 'hsm-node', operator: 'Exists' as const }];
  return {
    metadata: { namespace, name: `${name}-discovery`, labels, ownerReferences: [owner] },
    spec: {
      selector: { matchLabels: labels },
      template: {
        ...template,
        spec: { ...template.spec, ...(nodeSelector ? { nodeSelector } : {}), tolerations, containers: CONTAINERS },
      },
    },
  };
}

const IMAGE = 'example.test/hsm-secrets-operator:0.6';
const CONTAINERS = [{ name: 'discovery', image: IMAGE, args: ['--mode=discovery'] }];

function workload(
  namespace: string,
  name: string,
  labels: Readonly<Record<string, string>>,
  container: { readonly name: string; readonly args?: readonly string[] },
): Deployment {
  return {
    metadata: { namespace, name, labels },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ ...container, image: IMAGE }] } },
    },
  };
}
