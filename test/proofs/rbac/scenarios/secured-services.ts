import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cluster } from '@bowline/control-plane/testing';
import { Service } from '@bowline/kubernetes';
import { CustomResourceDefinition } from '@bowline/kubernetes/apiextensions-v1';
import { parse } from 'yaml';
import { Certificate } from '../../../../docs/examples/third-party/certificates.ts';
import { securedServices } from '../../../../docs/examples/third-party/secured-services.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { untilEvent } from '../until-event.ts';

const definition = fileURLToPath(new URL('../../../../docs/examples/third-party/certificates.yaml', import.meta.url));

/** A labelled Service gets a Certificate, which is repaired when it is changed. */
async function play(stage: Stage): Promise<void> {
  const { admin, namespace } = stage;
  const key = { namespace, name: 'web' };
  const labels = { 'example.com/secured': 'true' };
  await admin.create(Service, { metadata: { ...key, labels }, spec: { ports: [{ port: 80 }] } });
  await stage.until(Certificate, key, ({ spec }) => spec.secretName === 'web-tls');
  await untilEvent(stage, 'Requested', 1);
  await admin.patch(Certificate, key, { type: 'merge', body: { spec: { secretName: 'stolen' } } });
  await stage.until(Certificate, key, ({ spec }) => spec.secretName === 'web-tls');
  await untilEvent(stage, 'Requested', 2);
}

export const securedServicesScenario: Scenario = {
  operator: securedServices,
  /** The kind belongs to another project, so that installing the operator does not bring it. */
  async open(controlPlane) {
    const body = parse(readFileSync(definition, 'utf8')) as CustomResourceDefinition;
    const key = { name: body.metadata?.name ?? '' };
    await using rig = await cluster({ controlPlane, prefix: 'secured-crd' });
    await rig.admin.patch(
      CustomResourceDefinition,
      key,
      { type: 'apply', body, force: true },
      { fieldManager: 'proof' },
    );
    await rig.until(CustomResourceDefinition, key, ({ status }) =>
      (status?.conditions ?? []).some((condition) => condition.type === 'Established' && condition.status === 'True'),
    );
    return { play };
  },
};
