import { CustomResourceDefinition } from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import { isAlreadyExists } from '../errors/api-error.ts';
import { operatorIdentity } from '../identity/operator-identity.ts';
import type { CustomResource } from '../resource/custom-resource.ts';
import type { InstallOptions } from '../resource/install-crds.ts';
import { waitUntilServed } from '../resource/wait-until-served.ts';
import type { Operator } from './operator.ts';

/** InstalledDependency is the result for a kind of another project. */
export interface InstalledDependency {
  readonly resource: CustomResource;
  /** The name of its CustomResourceDefinition. */
  readonly name: string;
  /** `existing`: the cluster has a definition of this name, which stays as it is. */
  readonly outcome: 'created' | 'existing';
  /** Whether the cluster serves the version that the operator uses. */
  readonly isServed: boolean;
}

type DependencyClient = Pick<Client, 'create' | 'find' | 'get' | 'list' | 'raw'>;

/**
 * installDependencies creates the CustomResourceDefinitions of an operator's `dependencies` that the cluster does not
 * have, and waits until they are served. An existing definition is not changed. It needs the permissions of an
 * administrator.
 *
 * @example
 * const missing = (await installDependencies(admin, spire)).filter(({ outcome }) => outcome === 'created');
 */
export async function installDependencies(
  client: DependencyClient,
  operator: Operator,
  options: Pick<InstallOptions, 'signal' | 'timeoutMs' | 'wire'> = {},
): Promise<readonly InstalledDependency[]> {
  const { signal, timeoutMs = 60_000, wire = systemClock } = options;
  const { install: fieldManager } = operatorIdentity(operator).fieldManagers;
  return await Promise.all(
    operator.dependencies.map(async (resource): Promise<InstalledDependency> => {
      const name = resource.crd.metadata?.name ?? '';
      const existing = await createOrFind(client, resource.crd, { fieldManager, signal });
      const isServed = (existing ?? resource.crd).spec.versions.some(
        (version) => version.name === resource.version && version.served,
      );
      // A concurrent install may have created it just now.
      if (isServed) await waitUntilServed(client, resource, { wire, timeoutMs, signal });
      return { resource, name, outcome: existing ? 'existing' : 'created', isServed };
    }),
  );
}

/** createOrFind returns the existing definition; undefined if it was created. */
async function createOrFind(
  client: DependencyClient,
  crd: CustomResourceDefinition,
  options: { readonly fieldManager: string; readonly signal: AbortSignal | undefined },
): Promise<CustomResourceDefinition | undefined> {
  const key = { name: crd.metadata?.name ?? '' };
  const existing = await client.find(CustomResourceDefinition, key, { signal: options.signal });
  if (existing) return existing;
  try {
    await client.create(CustomResourceDefinition, crd, options);
    return undefined;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return await client.get(CustomResourceDefinition, key, { signal: options.signal });
  }
}
