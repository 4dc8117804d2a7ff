import { type ObjectKey, parseKey } from '@bowline/kubernetes';
import { type AccessReviews, serviceAccountSubject } from '@bowline/runtime/access';
import { syncRights } from '../authorization/rights.ts';
import type { Edge } from './find-loops.ts';
import type { Sync } from './sync-edges.ts';

/** EdgeAuthorizer decides which ConfigMapSyncs are reconciled. */
export interface EdgeAuthorizer {
  readonly reviews: AccessReviews;
  /** Reports whether the rights of the authors in a namespace are reviewed. */
  readonly isReviewed: (namespace: string) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * effectiveEdges omits the edges of ConfigMapSyncs that are not reconciled, because their author was not reviewed or
 * their account may not write such a copy: an author who may not write something must not be able to block others by
 * requesting it. The status is not trusted for this, because tenants may write it.
 */
export async function effectiveEdges(
  edges: readonly Edge[],
  syncs: Iterable<Sync>,
  { reviews, isReviewed, signal }: EdgeAuthorizer,
): Promise<readonly Edge[]> {
  const known = new Map([...syncs].map((sync) => [sync.key, sync]));
  const effective: Edge[] = [];
  const byAccount = new Map<string, { readonly account: ObjectKey; readonly edges: Edge[] }>();
  for (const edge of edges) {
    const { namespace = '' } = parseKey(edge.by);
    if (!isReviewed(namespace)) continue;
    const name = known.get(edge.by)?.spec.serviceAccountName;
    if (name === undefined) {
      effective.push(edge);
      continue;
    }
    const accountEdges = byAccount.get(`${namespace}/${name}`);
    if (accountEdges) accountEdges.edges.push(edge);
    else byAccount.set(`${namespace}/${name}`, { account: { namespace, name }, edges: [edge] });
  }
  for (const { account, edges: accountEdges } of byAccount.values()) {
    const needed = accountEdges.map((edge) => ({ edge, rights: rightsOf(edge) }));
    const missing = new Set(
      await reviews.missing(
        serviceAccountSubject(account),
        needed.flatMap(({ rights }) => rights),
        { signal, maxMissing: Number.POSITIVE_INFINITY },
      ),
    );
    for (const { edge, rights } of needed) if (!rights.some((right) => missing.has(right))) effective.push(edge);
  }
  return effective;
}

function rightsOf({ from, to }: Edge): ReturnType<typeof syncRights> {
  const source = parseKey(from);
  const target = parseKey(to);
  return syncRights({ sourceNamespace: source.namespace ?? '', configMapName: source.name, direction: 'OneWay' }, [
    { namespace: target.namespace ?? '', name: target.name },
  ]);
}
