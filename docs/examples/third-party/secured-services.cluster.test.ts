import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cluster } from '@bowline/control-plane/testing';
import { Service } from '@bowline/kubernetes';
import { CustomResourceDefinition } from '@bowline/kubernetes/apiextensions-v1';
import { expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { Certificate } from './certificates.ts';
import { securedServices } from './secured-services.ts';

const crd = fileURLToPath(new URL('certificates.yaml', import.meta.url));

it('requests a Certificate for a Service, and repairs it', async () => {
  await using admin = await cluster({ prefix: 'secured-crd' });
  const definition = parse(readFileSync(crd, 'utf8')) as CustomResourceDefinition;
  const { name = '' } = definition.metadata ?? {};
  const apply = { type: 'apply', body: definition, force: true } as const;
  await admin.admin.patch(CustomResourceDefinition, { name }, apply, { fieldManager: 'example' });
  await vi.waitFor(() => admin.admin.list(Certificate, { namespace: admin.namespace }), { timeout: 20_000 });

  await using c = await cluster({ operators: [securedServices], prefix: 'secured' });
  const key = { namespace: c.namespace, name: 'web' };
  const labels = { 'example.com/secured': 'true' };
  await c.admin.create(Service, { metadata: { ...key, labels }, spec: { ports: [{ port: 80 }] } });
  const { spec, metadata } = await c.until(Certificate, { name: 'web' }, () => true);
  expect(spec).toEqual({
    secretName: 'web-tls',
    dnsNames: [`web.${c.namespace}.svc`],
    // The API server fills in what the CRD has as the default.
    issuerRef: { name: 'in-cluster', kind: 'Issuer' },
  });
  expect(metadata?.ownerReferences).toMatchObject([{ kind: 'Service', name: 'web' }]);

  await c.admin.patch(Certificate, key, { type: 'merge', body: { spec: { secretName: 'stolen' } } });
  await c.until(Certificate, { name: 'web' }, (certificate) => certificate.spec.secretName === 'web-tls');
});
