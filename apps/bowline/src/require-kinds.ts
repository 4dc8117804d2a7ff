import {
  type ApiError,
  BowlineError,
  type Client,
  type CustomResource,
  isKindNotServed,
  isNotFound,
  type Operator,
} from '@bowline/runtime';

/**
 * requireKinds makes sure that the cluster serves the operators' kinds, and so that it can be reached at all. Discovery is open
 * to every account. Throws BOWLINE_KINDS_MISSING with the command that installs them.
 */
export async function requireKinds(
  client: Pick<Client, 'raw'>,
  operators: readonly Operator[],
  signal: AbortSignal,
): Promise<void> {
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
    `the cluster does not know ${names}: install what is missing with \`bowline crds --operators ${listed} | kubectl apply --server-side -f -\``,
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
