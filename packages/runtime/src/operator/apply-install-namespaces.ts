import { Namespace } from '@bowline/kubernetes';
import type { Client } from '../client/client.ts';
import { type ApiError, isConflict } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { operatorIdentity } from '../identity/operator-identity.ts';
import { installNamespaceManifests } from './install-namespace-manifests.ts';
import type { Operator } from './operator.ts';

/** AppliedNamespace is the result for a namespace. */
export interface AppliedNamespace {
  readonly name: string;
  readonly outcome: 'created' | 'configured' | 'unchanged';
  /** The declared labels that it has with another value, set by another client: they stay as they are. */
  readonly conflictingLabels: readonly string[];
}

type NamespaceClient = Pick<Client, 'find' | 'patch'>;

/**
 * applyInstallNamespaces creates the namespaces of an operator whose names are settings, and adds their labels to
 * existing ones. A label that another client set to another value is not changed. It needs the permissions of an
 * administrator: the manager does not have them. Pass the operator that `withConfig` returns.
 *
 * @example
 * await applyInstallNamespaces(admin, await withConfig(spire, { operandNamespace: 'spire' }));
 */
export async function applyInstallNamespaces(
  client: NamespaceClient,
  operator: Operator,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly AppliedNamespace[]> {
  const { install: fieldManager } = operatorIdentity(operator).fieldManagers;
  const applied: AppliedNamespace[] = [];
  for (const manifest of installNamespaceManifests([operator])) {
    applied.push(await applyNamespace(client, manifest, { fieldManager, signal: options.signal }));
  }
  return applied;
}

async function applyNamespace(
  client: NamespaceClient,
  { metadata }: Namespace,
  options: { readonly fieldManager: string; readonly signal: AbortSignal | undefined },
): Promise<AppliedNamespace> {
  const { name = '', labels = {} } = metadata ?? {};
  const stored = await client.find(Namespace, { name }, { signal: options.signal });
  if (stored?.metadata?.deletionTimestamp !== undefined) {
    throw new BowlineError(
      'BOWLINE_WRITE_CONTENDED',
      `cannot create Namespace ${name}: the one in the cluster is being deleted; install it again when the deletion is complete`,
      { retryable: true },
    );
  }
  const conflictingLabels: string[] = [];
  for (;;) {
    const wanted = Object.fromEntries(Object.entries(labels).filter(([label]) => !conflictingLabels.includes(label)));
    // An apply of nothing would only add an entry to managedFields.
    if (stored && Object.keys(wanted).length === 0) return { name, outcome: 'unchanged', conflictingLabels };
    try {
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: wanted } };
      // Without force: a label that another client set stays.
      const written = await client.patch(Namespace, { name }, { type: 'apply', body }, options);
      const isUnchanged = stored?.metadata?.resourceVersion === written.metadata?.resourceVersion;
      return {
        name,
        outcome: stored === undefined ? 'created' : isUnchanged ? 'unchanged' : 'configured',
        conflictingLabels,
      };
    } catch (error) {
      const refused = isConflict(error) ? Object.keys(wanted).filter((label) => isRefused(error, label)) : [];
      if (refused.length === 0) throw error;
      conflictingLabels.push(...refused);
    }
  }
}

function isRefused({ causes }: ApiError, label: string): boolean {
  return causes.some(({ field }) => field === `.metadata.labels.${label}`);
}
