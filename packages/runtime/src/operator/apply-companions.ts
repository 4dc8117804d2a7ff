import { keyOf } from '@bowline/kubernetes';
import { BowlineError } from '../errors/bowline-error.ts';
import { NAME, operatorIdentity } from '../identity/operator-identity.ts';
import { describeKey } from '../writing/describe-object.ts';
import type { WriteResult } from '../writing/guarded-apply.ts';
import type { WriteClient } from '../writing/write-client.ts';
import { createWriter } from '../writing/writer.ts';
import type { CompanionManifest } from './companion-manifests.ts';
import type { Operator } from './operator.ts';

/** AppliedCompanion is the result for a companion. */
export interface AppliedCompanion extends CompanionManifest {
  readonly outcome: Exclude<WriteResult<unknown>['outcome'], 'terminating'>;
}

/**
 * applyCompanions creates or updates the companions of an operator by server-side apply. It needs the permissions of an
 * administrator: the manager does not have them. It throws BOWLINE_FOREIGN_OBJECT for an object of the same name that
 * does not have the labels of this install, and leaves it unchanged.
 *
 * @example
 * await applyCompanions(admin, scans, companionManifests(scans, { namespace: 'scans-system' }));
 */
export async function applyCompanions(
  client: WriteClient,
  operator: Operator,
  manifests: readonly CompanionManifest[],
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly AppliedCompanion[]> {
  const { fieldManagers, labels: names } = operatorIdentity(operator);
  const { apply } = createWriter({ client, fieldManager: fieldManagers.install, signal: options.signal });
  const applied: AppliedCompanion[] = [];
  for (const { resource, object } of manifests) {
    const { [names.installedIn]: installedIn = '', [names.companion]: suffix = '' } = object.metadata?.labels ?? {};
    const labels = { [NAME]: operator.name, [names.installedIn]: installedIn, [names.companion]: suffix };
    const { outcome } = await apply(resource, object, { labels });
    if (outcome === 'terminating') {
      throw new BowlineError(
        'BOWLINE_WRITE_CONTENDED',
        `cannot apply ${describeKey(resource, keyOf(object))}: the one in the cluster is being deleted; install it again when the deletion is complete`,
        { retryable: true },
      );
    }
    applied.push({ resource, object, outcome });
  }
  return applied;
}
