import { CustomResourceDefinition } from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime/client';
import { operatorIdentity } from '@bowline/runtime/install';
import type { CustomResource } from '@bowline/runtime/resource';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { HSMSecret } from '../api/hsm-secret.ts';
import { OPERATOR } from '../api/names.ts';

const KINDS: readonly Pick<CustomResource, 'id' | 'crd' | 'kind'>[] = [HSMDevice, HSMPool, HSMSecret];

/** FoundDefinition is the CustomResourceDefinition of a kind in the cluster. */
export interface FoundDefinition {
  readonly name: string;
  readonly kind: string;
  readonly state: 'ours' | 'foreign' | 'missing';
  /** The Helm release that it belongs to: its removal deletes the definition, and with it all objects. */
  readonly helmRelease?: string | undefined;
}

/** findDefinitions reads the definitions of our kinds. */
export async function findDefinitions(client: Client, signal: AbortSignal): Promise<readonly FoundDefinition[]> {
  return await Promise.all(
    KINDS.map(async ({ kind, crd }) => {
      const name = crd.metadata?.name ?? '';
      const found = await client.find(CustomResourceDefinition, { name }, { signal });
      const { annotations } = found?.metadata ?? {};
      const helmRelease = annotations?.['meta.helm.sh/release-name'];
      return { name, kind, state: found ? stateOf(found, crd) : 'missing', ...(helmRelease ? { helmRelease } : {}) };
    }),
  );
}

/** A definition is ours by a category that only ours has, or because our installer has written it. */
function stateOf(found: CustomResourceDefinition, ours: CustomResourceDefinition): 'ours' | 'foreign' {
  const { crds } = operatorIdentity(OPERATOR).fieldManagers;
  const isOurs =
    ours.spec.names.categories?.some((category) => found.spec.names.categories?.includes(category)) ||
    found.metadata?.managedFields?.some(({ manager }) => manager === crds);
  return isOurs ? 'ours' : 'foreign';
}
