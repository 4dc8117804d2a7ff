import { CustomResourceDefinition } from '@bowline/kubernetes';
import { appliedFields, builtInShape, type Clock, findDifference, systemClock } from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import { ApiError } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { CustomResource } from './custom-resource.ts';
import { lostVersions } from './lost-versions.ts';
import { untilServed } from './until-served.ts';

/** InstallOptions bounds an installation. */
export interface InstallOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long each kind may take until it is served. Defaults to 60 s. */
  readonly timeoutMs?: number | undefined;
  /** Owns the applied fields. Defaults to `bowline-crds`. */
  readonly fieldManager?: string | undefined;
  /** Times the waiting. Defaults to the system's clock. */
  readonly wire?: Clock | undefined;
}

/** InstalledDefinition is what became of a CustomResourceDefinition. */
export interface InstalledDefinition {
  readonly name: string;
  readonly outcome: 'created' | 'configured' | 'unchanged';
}

/**
 * installCustomResourceDefinitions applies the CRDs of kinds and waits until the API server serves them. It needs the right to
 * get, create and patch CustomResourceDefinitions. One that is as it should be is not written; one with versions that the new
 * one lacks is left alone, because its objects would become unreadable.
 *
 * @example
 * await installCustomResourceDefinitions(client, [Site], { signal });
 */
export async function installCustomResourceDefinitions(
  client: Pick<Client, 'find' | 'patch' | 'list' | 'raw'>,
  resources: readonly CustomResource[],
  options: InstallOptions = {},
): Promise<readonly InstalledDefinition[]> {
  const { signal, timeoutMs = 60_000, fieldManager = 'bowline-crds', wire = systemClock } = options;
  // Two versions of one kind are one definition.
  const unique = [...new Map(resources.map((each) => [each.crd.metadata?.name ?? each.id, each])).values()];
  return await Promise.all(
    unique.map(async (resource) => {
      const installed = await install(client, resource, fieldManager, signal);
      await untilServed(client, resource, { wire, timeoutMs, signal });
      return installed;
    }),
  );
}

async function install(
  client: Pick<Client, 'find' | 'patch'>,
  resource: CustomResource,
  fieldManager: string,
  signal: AbortSignal | undefined,
): Promise<InstalledDefinition> {
  const { crd } = resource;
  const name = crd.metadata?.name ?? '';
  try {
    const stored = await client.find(CustomResourceDefinition, { name }, { signal });
    if (stored) refuseLoss(name, lostVersions(stored, crd));
    if (stored && !wouldChange(crd, stored, fieldManager)) return { name, outcome: 'unchanged' };
    await client.patch(
      CustomResourceDefinition,
      { name },
      { type: 'apply', body: crd, force: true },
      { fieldManager, signal },
    );
    return { name, outcome: stored ? 'configured' : 'created' };
  } catch (error) {
    throw explained(name, error);
  }
}

function wouldChange(crd: CustomResourceDefinition, stored: CustomResourceDefinition, fieldManager: string): boolean {
  const owned = appliedFields(stored, fieldManager, 'apiextensions.k8s.io/v1');
  const shape = builtInShape('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
  return owned === undefined || findDifference(crd, stored, owned, shape) !== undefined;
}

function refuseLoss(name: string, lost: readonly string[]): void {
  if (lost.length === 0) return;
  throw new BowlineError(
    'BOWLINE_CRD_VERSION_LOST',
    `cannot install the CustomResourceDefinition ${name}: the cluster's has ${lost.join(', ')}, which this one lacks; define it with otherVersions, or migrate its objects and remove it from the stored definition first`,
  );
}

function explained(name: string, error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.status === 403) {
    return new BowlineError(
      'BOWLINE_CRD_FORBIDDEN',
      `cannot install the CustomResourceDefinition ${name}: ${error.message}; install it as an administrator, or grant get, create and patch on customresourcedefinitions.apiextensions.k8s.io`,
      { cause: error },
    );
  }
  if (error.status !== 422 && error.status !== 400) return error;
  return new BowlineError(
    'BOWLINE_CRD_REFUSED',
    `the API server refuses the CustomResourceDefinition ${name}: ${error.message}; correct the definition of the kind`,
    { cause: error },
  );
}
