import { CustomResourceDefinition } from '@bowline/kubernetes';
import { expect, it, vi } from 'vitest';
import { HSMDevice } from '../api/hsm-device.ts';
import { hsmCluster } from '../testing/hsm-cluster.test-support.ts';

const DEFINITION = { name: 'hsmdevices.hsm.j5t.io' };
const MAXIMUM = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/maxDevices/maximum';

it('scenario 06 a stored HSMDevice that the schema of today refuses is reported, and the others continue', async () => {
  // Other tests must not be affected by the other schema.
  await using c = await hsmCluster({ nodes: 1, isolation: 'control-plane' });
  const { namespace, admin } = c;
  const setMaximum = (value: number): Promise<unknown> =>
    admin.patch(CustomResourceDefinition, DEFINITION, {
      type: 'json',
      body: [{ op: 'replace', path: MAXIMUM, value }],
    });
  await setMaximum(5_000);
  // The API server uses a new schema only after a moment.
  await vi.waitFor(() => c.createDevice('stored', { maxDevices: 2_000 }), { timeout: 20_000, interval: 50 });
  await setMaximum(1_024);
  const tooMany = () => c.createDevice('refused', { maxDevices: 2_000 });
  await vi.waitFor(() => expect(tooMany()).rejects.toThrow('spec.maxDevices'), { timeout: 20_000, interval: 50 });

  expect(await c.untilEvent('stored', 'SpecInvalid')).toContain('spec.maxDevices');
  await c.createDevice('sound');
  await c.report(await c.discoveryPod('sound', c.nodes[0] ?? ''), ['1']);
  await c.untilPool('sound', ({ phase }) => phase === 'Ready');

  await c.restart();
  await c.report(await c.discoveryPod('sound', c.nodes[0] ?? ''), ['1', '2']);
  await c.untilPool('sound', ({ availableDevices }) => availableDevices === 2);

  await admin.patch(HSMDevice, { namespace, name: 'stored' }, { type: 'merge', body: { spec: { maxDevices: 5 } } });
  await c.untilPool('stored', ({ phase }) => phase !== undefined);
});
