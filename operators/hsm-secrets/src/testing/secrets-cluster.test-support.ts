import { type ObjectMeta, Secret } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { HSMSecret } from '../api/hsm-secret.ts';
import { type HsmCluster, type HsmClusterOptions, hsmCluster } from './hsm-cluster.test-support.ts';
import { type TokenAgent, TokenAgents } from './token-agents.test-support.ts';

/** DEVICE is the name of the HSMDevice of the tests. */
export const DEVICE = 'pico';

/** SecretsCluster is a test cluster with an HSMDevice whose devices are software tokens. */
export interface SecretsCluster extends HsmCluster {
  readonly agents: TokenAgents;
  /** The agents of the devices S1, S2, … of the HSMDevice `pico`, one on each node. */
  readonly devices: readonly TokenAgent[];
  /** createSecret creates an HSMSecret. */
  createSecret(name: string, spec?: Readonly<Record<string, unknown>>, metadata?: ObjectMeta): Promise<HSMSecret>;
  /** untilSynced waits until an HSMSecret has a reason of the condition Synced. Defaults to `Synced`. */
  untilSynced(name: string, reason?: string, text?: string): Promise<HSMSecret>;
  /** valuesOf reads the values of a Secret as text; undefined if it does not exist. */
  valuesOf(name: string): Promise<Readonly<Record<string, string>> | undefined>;
}

/** secretsCluster starts the operator with an HSMDevice, one physical device on each node, and agents for them. */
export async function secretsCluster(
  options: HsmClusterOptions & { readonly spec?: Readonly<Record<string, unknown>> } = {},
): Promise<SecretsCluster> {
  const agents = new TokenAgents();
  const { spec, ...rig } = options;
  const c = await hsmCluster({ nodes: 1, agents, ...rig });
  const { namespace, admin } = c;
  await c.createDevice(DEVICE, spec);
  const devices: TokenAgent[] = [];
  for (const [index, node] of c.nodes.entries()) {
    const serialNumber = `S${index + 1}`;
    await c.report(await c.discoveryPod(DEVICE, node), [serialNumber]);
    devices.push(agents.add({ namespace, name: DEVICE }, serialNumber));
  }
  await c.untilPool(DEVICE, ({ availableDevices }) => availableDevices === devices.length);
  const own: Omit<SecretsCluster, keyof HsmCluster> = {
    agents,
    devices,
    createSecret: (name, given = {}, metadata = {}) =>
      admin.create(HSMSecret, { metadata: { ...metadata, namespace, name }, spec: given }),
    untilSynced: (name, reason = 'Synced', text = '') =>
      c.until(HSMSecret, { name }, (secret) => {
        const synced = findCondition(secret, 'Synced');
        return synced?.reason === reason && synced.message.includes(text);
      }),
    async valuesOf(name) {
      const secret = await admin.find(Secret, { namespace, name });
      if (!secret) return undefined;
      const entries = Object.entries(secret.data ?? {});
      return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));
    },
  };
  return Object.defineProperties({ ...c, ...own }, Object.getOwnPropertyDescriptors(c));
}
