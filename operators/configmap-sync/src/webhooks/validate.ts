import { keyString, Namespace, type UserInfo, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import { describeProblems } from '@bowline/machinery';
import { admit, deny, validating } from '@bowline/runtime';
import type { Subject } from '@bowline/runtime/client';
import { OWN_WEBHOOKS, type ValidatingAnswer } from '@bowline/runtime/webhook';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { AccessReviews } from '../authorization/access-reviews.ts';
import { isObeyedIn, REVIEW_CONDITION, reviewView } from '../authorization/author-review.ts';
import { reachProblems } from '../authorization/reach.ts';
import { authorRights, changeRights, describeRights } from '../authorization/rights.ts';
import { type EdgeJudge, effectiveEdges } from '../cycles/effective-edges.ts';
import { findLoops } from '../cycles/find-loops.ts';
import { type Sync, syncEdges, writingSyncs } from '../cycles/sync-edges.ts';
import type { Deps } from '../deps.ts';
import { type NamespaceView, namespaceView } from '../targets/resolve-targets.ts';
import { checkSpec } from '../validation/check-spec.ts';

/** ReviewDeps is what the webhook needs of the operator's setup. */
export type ReviewDeps = Pick<Deps, 'config' | 'ownNamespace' | 'namespaces'>;

/**
 * review is the webhook that no ConfigMapSync gets past: the operator reads and writes with rights of its own, so that whoever
 * asks for a sync must have the rights to do the same. It is asked when one is created or its spec changes, and by nothing
 * else: deleting never depends on it.
 */
export const review = validating(ConfigMapSync, {
  name: 'review',
  operations: ['CREATE', 'UPDATE'],
  matchConditions: [REVIEW_CONDITION],
  failurePolicy: 'Fail',
})
  .using<ReviewDeps>()
  .reads(ConfigMapSync)
  .reads(Namespace, { view: 'metadata', clusterWideOnly: true })
  .reads(ValidatingWebhookConfiguration, { fieldSelector: OWN_WEBHOOKS, view: reviewView })
  .handle(async (request) => {
    const { object, oldObject, namespace = '', userInfo, live, clock, signal, list, deps } = request;
    const { spec } = object;
    const problems = [...checkSpec(spec), ...reachProblems(spec, namespace, deps.namespaces)];
    if (problems.length > 0) return invalid(problems);
    const rights = oldObject ? changeRights(oldObject.spec, spec, namespace) : authorRights(spec, namespace);
    // Nothing is remembered: who was granted a right a moment ago may use it, who lost it may not.
    const reviews = new AccessReviews({ client: live, clock, local: deps.namespaces !== undefined, keepMs: 0 });
    const missing = await reviews.missing(subjectOf(userInfo), rights, { signal });
    if (missing.length > 0) {
      return deny(
        `${userInfo.username} may not: ${describeRights(missing)}; a ConfigMapSync reads and writes only what its author may`,
      );
    }
    const namespaces = deps.namespaces ? undefined : list(Namespace).map(namespaceView);
    const sync = { key: keyString({ namespace, name: object.metadata?.name ?? '' }), spec };
    // Whose author is reviewed here and now needs no configuration that says so.
    const isReviewed = (name: string): boolean => name === namespace || isObeyedIn(request, name);
    const cycle = await cycleOf(sync, writingSyncs(list(ConfigMapSync)), namespaces, { reviews, isReviewed, signal });
    return cycle ?? admit();
  });

function invalid(problems: readonly FieldProblem[]): ValidatingAnswer {
  return deny({ message: describeProblems(problems), causes: problems });
}

/**
 * cycleOf refuses what would close a cycle, whoever else is in it was there before. Only what the author names is told: what lies
 * between may be somebody else's. Nothing is told of cycles to an account that could not write such copies.
 */
async function cycleOf(
  of: Sync,
  others: readonly Sync[],
  namespaces: readonly NamespaceView[] | undefined,
  judge: EdgeJudge,
): Promise<ValidatingAnswer | undefined> {
  const { closing, back } = findLoops(syncEdges(of, others, namespaces), of.key);
  // What it was before is among the others.
  const effective = await effectiveEdges([...closing, ...back], [...others, of], judge);
  const [edge] = findLoops(effective, of.key).closing;
  if (!edge) return undefined;
  const message = `${edge.to} is copied back to ${edge.from} by other ConfigMapSyncs; choose another destination or name`;
  return invalid([{ field: 'spec', reason: 'FieldValueInvalid', message: `Invalid value: ${message}` }]);
}

function subjectOf({ username = '', uid, groups, extra }: UserInfo): Subject {
  return {
    user: username,
    ...(uid === undefined ? {} : { uid }),
    ...(groups === undefined ? {} : { groups }),
    ...(extra === undefined ? {} : { extra }),
  };
}
