import { keyString, Namespace, type UserInfo } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import { describeProblems } from '@bowline/machinery';
import { admit, deny, type Subject, type ValidatingAnswer, validating } from '@bowline/runtime';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { AccessReviews } from '../authorization/access-reviews.ts';
import { REVIEW_CONDITION } from '../authorization/author-review.ts';
import { reachProblems } from '../authorization/reach.ts';
import { authorRights, changeRights, describeRights } from '../authorization/rights.ts';
import { findCycle } from '../cycles/find-cycle.ts';
import { type Sync, syncEdges, syncOf } from '../cycles/sync-edges.ts';
import { type NamespaceView, namespaceView } from '../targets/resolve-targets.ts';
import { checkSpec } from '../validation/check-spec.ts';

/** ReviewDeps is what the webhook needs of the operator's setup. */
export interface ReviewDeps {
  /** The namespaces that the manager is limited to. Undefined: it works in the whole cluster. */
  readonly namespaces: readonly string[] | undefined;
}

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
  .handle(async ({ object, oldObject, namespace = '', userInfo, live, clock, signal, list, deps }) => {
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
    return cycleOf(sync, list(ConfigMapSync).map(syncOf), namespaces) ?? admit();
  });

function invalid(problems: readonly FieldProblem[]): ValidatingAnswer {
  return deny({ message: describeProblems(problems), causes: problems });
}

/** Only what the author names is told: what lies between may be somebody else's. */
function cycleOf(of: Sync, all: readonly Sync[], namespaces: readonly NamespaceView[] | undefined) {
  const [source, copy] = findCycle(syncEdges(of, all, namespaces), of.key) ?? [];
  if (source === undefined) return undefined;
  const message = `${copy} is copied back to ${source} by other ConfigMapSyncs; choose another destination or name`;
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
