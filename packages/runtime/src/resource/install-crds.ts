import { CustomResourceDefinition } from '@bowline/kubernetes';
import { builtInShape, type Clock, systemClock } from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import { ApiError } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { crdFieldManagerOf } from '../identity/operator-identity.ts';
import { silentLog } from '../observability/log.ts';
import { describeHolder } from '../writing/describe-object.ts';
import { guardedApply, type WriteResult } from '../writing/guarded-apply.ts';
import type { WriteClient } from '../writing/write-client.ts';
import { WriteMemo } from '../writing/write-memo.ts';
import type { CustomResource } from './custom-resource.ts';
import { lostFields } from './lost-fields.ts';
import { lostVersions } from './lost-versions.ts';
import { waitUntilServed } from './wait-until-served.ts';

/** InstallOptions configures an installation. */
export interface InstallOptions {
  readonly signal?: AbortSignal | undefined;
  /** The time limit for each kind until it is served. Defaults to 60 s. */
  readonly timeoutMs?: number | undefined;
  /**
   * The owner of the applied fields. Defaults to one derived from the kind's group: `example-crds` for `example.com`.
   */
  readonly fieldManager?: string | undefined;
  /** The clock for waiting. Defaults to the system's. */
  readonly wire?: Clock | undefined;
}

/** InstalledDefinition is the result for a CustomResourceDefinition. */
export interface InstalledDefinition {
  readonly name: string;
  readonly outcome: 'created' | 'configured' | 'unchanged';
}

/**
 * installCustomResourceDefinitions applies the CRDs of kinds and waits until the API server serves them. It needs the
 * right to get, create and patch CustomResourceDefinitions. A definition that is up to date is not written. It does not
 * overwrite a definition of another owner with fields that this one lacks, because its objects would lose them, nor one
 * with versions that this one lacks, because its objects would become unreadable. A definition is recognised as ours by
 * its field manager, or by a category of the kind.
 *
 * @example
 * await installCustomResourceDefinitions(client, [Site], { signal });
 */
export async function installCustomResourceDefinitions(
  client: WriteClient & Pick<Client, 'list' | 'raw'>,
  resources: readonly CustomResource[],
  options: InstallOptions = {},
): Promise<readonly InstalledDefinition[]> {
  const { signal, timeoutMs = 60_000, wire = systemClock } = options;
  // Two versions of one kind share one definition.
  const unique = [...new Map(resources.map((each) => [each.crd.metadata?.name ?? each.id, each])).values()];
  return await Promise.all(
    unique.map(async (resource) => {
      const { fieldManager = crdFieldManagerOf(resource.group) } = options;
      const installed = await install(client, resource, fieldManager, signal);
      await waitUntilServed(client, resource, { wire, timeoutMs, signal });
      return installed;
    }),
  );
}

async function install(
  client: WriteClient,
  { crd }: CustomResource,
  fieldManager: string,
  signal: AbortSignal | undefined,
): Promise<InstalledDefinition> {
  const name = crd.metadata?.name ?? '';
  try {
    const { outcome } = await write(client, crd, name, fieldManager, signal);
    if (outcome !== 'terminating') return { name, outcome };
  } catch (error) {
    throw explainError(name, error);
  }
  throw new BowlineError(
    'BOWLINE_CRD_NOT_SERVED',
    `cannot install the CustomResourceDefinition ${name}: the one in the cluster is being deleted; install it again when the deletion is complete`,
    { retryable: true },
  );
}

/** write applies a definition, but only to the state in which the stored one was found to be ours. */
function write(
  client: WriteClient,
  crd: CustomResourceDefinition,
  name: string,
  fieldManager: string,
  signal: AbortSignal | undefined,
): Promise<WriteResult<CustomResourceDefinition>> {
  const shape = builtInShape('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
  return guardedApply<CustomResourceDefinition>(
    {
      client,
      fieldManager,
      lookup: undefined,
      writeMemo: new WriteMemo(),
      shapeOf: () => shape,
      log: silentLog,
      signal,
    },
    {
      // In another state it may have other versions.
      isStateBound: true,
      resource: CustomResourceDefinition,
      key: { name },
      desired: crd,
      ownership: {},
      isOurs(object) {
        // This is the object that was read for this write: a whole definition.
        const stored = object as CustomResourceDefinition;
        rejectForeign(crd, stored, fieldManager);
        rejectLostVersions(name, lostVersions(stored, crd));
        return true;
      },
    },
  );
}

/** Definitions of any author may have this category. */
const SHARED_CATEGORY = 'all';

function rejectForeign(crd: CustomResourceDefinition, stored: CustomResourceDefinition, fieldManager: string): void {
  const name = crd.metadata?.name ?? '';
  const categories = crd.spec.names.categories?.filter((category) => category !== SHARED_CATEGORY) ?? [];
  if (categories.some((category) => stored.spec.names.categories?.includes(category))) return;
  if (stored.metadata?.managedFields?.some(({ manager }) => manager === fieldManager)) return;
  const lost = lostFields(stored, crd);
  if (lost.length === 0) return;
  const [category] = categories;
  const handOver =
    category === undefined
      ? `applying it once with --server-side --force-conflicts --field-manager=${fieldManager}`
      : `adding "${category}" to its spec.names.categories`;
  throw new BowlineError(
    'BOWLINE_CRD_FOREIGN',
    `cannot install the CustomResourceDefinition ${name}: the one in the cluster is not ours (${describeHolder(stored)}) and has ${formatPaths(lost)}, which the new one lacks; define the kind in a group of your own, remove the other one, or hand it over by ${handOver}`,
  );
}

const MAX_LISTED = 5;

function formatPaths(paths: readonly string[]): string {
  const more = paths.length - MAX_LISTED;
  return `${paths.slice(0, MAX_LISTED).join(', ')}${more > 0 ? ` and ${more} more fields` : ''}`;
}

function rejectLostVersions(name: string, lost: readonly string[]): void {
  if (lost.length === 0) return;
  throw new BowlineError(
    'BOWLINE_CRD_VERSION_LOST',
    `cannot install the CustomResourceDefinition ${name}: the one in the cluster has ${lost.join(', ')}, which the new one lacks; add it with otherVersions, or migrate its objects and remove it from the stored definition first`,
  );
}

function explainError(name: string, error: unknown): unknown {
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
    `the API server rejects the CustomResourceDefinition ${name}: ${error.message}; correct the definition of the kind`,
    { cause: error },
  );
}
