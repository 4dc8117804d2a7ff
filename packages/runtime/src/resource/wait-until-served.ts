import { CustomResourceDefinition } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import { ApiError, isForbidden, isKindNotServed, isNotFound } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { CustomResource } from './custom-resource.ts';

/** Waits grow from the first to the longest: usually a kind is served within a second of being established. */
const FIRST_WAIT_MS = 25;
const MAX_WAIT_MS = 1_000;

/**
 * waitUntilServed waits until a kind can be used: its names are accepted, it is established, discovery shows it and a
 * list of it works. Each of these comes from another part of the API server, so none of them alone is enough.
 */
export async function waitUntilServed(
  client: Pick<Client, 'find' | 'list' | 'raw'>,
  resource: CustomResource,
  options: { readonly wire: Clock; readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const { wire, timeoutMs, signal } = options;
  const name = resource.crd.metadata?.name ?? '';
  const startedAt = wire.monotonic();
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
    const missing = await describeMissing(client, resource, name, signal);
    if (missing === undefined) return;
    if (wire.monotonic() - startedAt + waitMs > timeoutMs) {
      throw new BowlineError(
        'BOWLINE_CRD_NOT_SERVED',
        `the API server does not serve ${name} after ${timeoutMs} ms: ${missing}; check the conditions of the CustomResourceDefinition`,
        { retryable: true },
      );
    }
    await wire.sleep(waitMs, signal);
  }
}

/** describeMissing returns what is still missing until the kind can be used. */
async function describeMissing(
  client: Pick<Client, 'find' | 'list' | 'raw'>,
  resource: CustomResource,
  name: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const crd = await client.find(CustomResourceDefinition, { name }, { signal });
  if (crd === undefined) return 'the CustomResourceDefinition no longer exists';
  const conditions = new Map(crd.status?.conditions?.map((condition) => [condition.type, condition]));
  const names = conditions.get('NamesAccepted');
  if (names?.status === 'False') {
    throw new BowlineError(
      'BOWLINE_CRD_NAMES_TAKEN',
      `the API server does not accept the names of ${name}: ${names.message ?? names.reason ?? 'they are taken'}; choose others, or remove the other CustomResourceDefinition`,
    );
  }
  const broken = conditions.get('NonStructuralSchema');
  if (broken?.status === 'True') return `its schema is not structural (${broken.message ?? ''})`;
  if (conditions.get('Established')?.status !== 'True') return 'it is not established';
  if (!(await isDiscovered(client, resource, signal))) return 'it is missing in discovery';
  try {
    // A client that may install a kind need not be allowed to read it. The API server authorizes a request before it
    // looks up the kind, so a Forbidden error does not show whether the kind is served: then the checks above have to
    // suffice.
    await client.list(resource, { limit: 1, signal });
  } catch (error) {
    if (isKindNotServed(error) || isNotFound(error)) return 'a list request returns NotFound';
    if (error instanceof ApiError && error.status >= 500) return error.message;
    if (!isForbidden(error)) throw error;
  }
  return undefined;
}

async function isDiscovered(
  client: Pick<Client, 'raw'>,
  { group, version, plural }: CustomResource,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    const text = await client.raw(`/apis/${group}/${version}`, { signal });
    const { resources = [] } = JSON.parse(text) as { resources?: readonly { readonly name: string }[] };
    return resources.some(({ name }) => name === plural);
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status >= 500)) return false;
    throw error;
  }
}
