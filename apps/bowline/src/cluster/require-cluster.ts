import { BowlineError, type Operator } from '@bowline/runtime';
import { type ApiError, type Client, isKindNotServed, isNotFound } from '@bowline/runtime/client';
import type { CustomResource } from '@bowline/runtime/resource';

/**
 * requireCluster checks that the cluster can be reached, accepts the credentials, and serves the operators' kinds.
 * Every account may send the requests that it needs. It throws BOWLINE_KINDS_MISSING with the command that installs the
 * kinds, or the error of the failed request: a manager would retry forever, and its user would not learn why nothing
 * happens.
 */
export async function requireCluster(
  client: Pick<Client, 'raw'>,
  operators: readonly Operator[],
  signal: AbortSignal,
): Promise<void> {
  await client.raw('/version', { signal });
  const missing: CustomResource[] = [];
  for (const kind of operators.flatMap(({ resources }) => resources)) {
    if (!(await isServed(client, kind, signal))) missing.push(kind);
  }
  if (missing.length === 0) return;
  const names = missing.map(({ kind, group, version }) => `${kind} (${group}/${version})`).join(', ');
  const needing = operators.filter(({ resources }) => resources.some((kind) => missing.includes(kind)));
  const listed = needing.map(({ name }) => name).join(',');
  throw new BowlineError(
    'BOWLINE_KINDS_MISSING',
    `the cluster does not serve ${names}: install the missing kinds with \`bowline crds --operators ${listed} | kubectl apply --server-side -f -\``,
  );
}

async function isServed(client: Pick<Client, 'raw'>, kind: CustomResource, signal: AbortSignal): Promise<boolean> {
  try {
    const text = await client.raw(`/apis/${kind.group}/${kind.version}`, { signal });
    const { resources = [] } = JSON.parse(text) as { resources?: readonly { name: string }[] };
    return resources.some(({ name }) => name === kind.plural);
  } catch (error) {
    if (isNotFound(error) || isKindNotServed(error) || (error as Partial<ApiError>).status === 404) return false;
    throw error;
  }
}
