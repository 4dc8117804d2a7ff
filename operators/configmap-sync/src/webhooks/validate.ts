import { keyString, Namespace, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import { describeProblems } from '@bowline/machinery';
import { admit, deny, validating } from '@bowline/runtime';
import type { ValidatingResponse } from '@bowline/runtime/webhook';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { authors } from '../authorization/author-review.ts';
import { namespaceAccessProblems } from '../authorization/namespace-access.ts';
import { authorRights, changeRights } from '../authorization/rights.ts';
import { type EdgeAuthorizer, effectiveEdges } from '../cycles/effective-edges.ts';
import { findLoops } from '../cycles/find-loops.ts';
import { type Sync, syncEdges, writingSyncs } from '../cycles/sync-edges.ts';
import type { Deps } from '../deps.ts';
import { type NamespaceView, namespaceView } from '../targets/resolve-targets.ts';
import { checkSpec } from '../validation/check-spec.ts';

/** ReviewDeps is the part of the operator's dependencies that the webhook needs. */
export type ReviewDeps = Pick<Deps, 'config' | 'ownNamespace' | 'namespaces'>;

/**
 * review is the webhook that checks every ConfigMapSync: the operator reads and writes with its own permissions, so the
 * author of a sync must have the rights to do the same. It is called when one is created or its spec changes, and for
 * nothing else: deletion never depends on it.
 */
export const review = validating(ConfigMapSync, authors.webhook)
  .using<ReviewDeps>()
  .reads(ConfigMapSync)
  .reads(Namespace, { view: 'metadata', clusterWideOnly: true })
  .reads(ValidatingWebhookConfiguration, authors.configuration)
  .handle(async (request) => {
    const { object, oldObject, namespace = '', signal, list, deps } = request;
    const { spec } = object;
    const problems = [...checkSpec(spec), ...namespaceAccessProblems(spec, namespace, deps.namespaces)];
    if (problems.length > 0) return invalid(problems);
    const rights = oldObject ? changeRights(oldObject.spec, spec, namespace) : authorRights(spec, namespace);
    const reviews = authors.reviewsOf(request);
    const denied = await authors.denial(request, rights, reviews);
    if (denied) return denied;
    const namespaces = deps.namespaces ? undefined : list(Namespace).map(namespaceView);
    const sync = { key: keyString({ namespace, name: object.metadata?.name ?? '' }), spec };
    // The author who is being reviewed now does not depend on the webhook configuration.
    const isReviewed = (name: string): boolean => name === namespace || authors.isTrustedIn(request, name);
    const cycle = await cycleOf(sync, writingSyncs(list(ConfigMapSync)), namespaces, { reviews, isReviewed, signal });
    return cycle ?? admit();
  });

function invalid(problems: readonly FieldProblem[]): ValidatingResponse {
  return deny({ message: describeProblems(problems), causes: problems });
}

/**
 * cycleOf refuses a ConfigMapSync that would close a cycle, because the others in the cycle existed before. The message
 * contains only what the author names: the rest of the cycle may belong to other owners. Cycles are not reported to an
 * account that could not write such copies.
 */
async function cycleOf(
  of: Sync,
  others: readonly Sync[],
  namespaces: readonly NamespaceView[] | undefined,
  authorizer: EdgeAuthorizer,
): Promise<ValidatingResponse | undefined> {
  const { closing, back } = findLoops(syncEdges(of, others, namespaces), of.key);
  // Its previous version is among the others.
  const effective = await effectiveEdges([...closing, ...back], [...others, of], authorizer);
  const [edge] = findLoops(effective, of.key).closing;
  if (!edge) return undefined;
  const message = `${edge.to} is copied back to ${edge.from} by other ConfigMapSyncs; choose another destination or name`;
  return invalid([{ field: 'spec', reason: 'FieldValueInvalid', message: `Invalid value: ${message}` }]);
}
