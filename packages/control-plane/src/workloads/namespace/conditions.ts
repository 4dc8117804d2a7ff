import type { NamespaceCondition } from '@bowline/kubernetes';
import { type ContentOutcome, nameOf } from './content.ts';

/**
 * terminatingConditions returns conditions that report the progress of a namespace's deletion, with Kubernetes' own
 * messages.
 */
export function terminatingConditions(
  { remaining, failures }: ContentOutcome,
  staleGroups: readonly string[],
): readonly Omit<NamespaceCondition, 'lastTransitionTime'>[] {
  const finalizers = new Map<string, number>();
  for (const each of remaining) {
    for (const [name, count] of each.finalizers) finalizers.set(name, (finalizers.get(name) ?? 0) + count);
  }
  const counts = remaining.map(({ resource, count }) => `${nameOf(resource)} has ${count} resource instances`);
  const kept = [...finalizers].toSorted().map(([name, count]) => `${name} in ${count} resource instances`);
  return [
    staleGroups.length > 0
      ? condition('NamespaceDeletionDiscoveryFailure', true, 'DiscoveryFailed', discoveryFailed(staleGroups))
      : condition(
          'NamespaceDeletionDiscoveryFailure',
          false,
          'ResourcesDiscovered',
          'All resources successfully discovered',
        ),
    condition(
      'NamespaceDeletionGroupVersionParsingFailure',
      false,
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ),
    failures.length > 0
      ? condition('NamespaceDeletionContentFailure', true, 'ContentDeletionFailed', contentFailed(failures))
      : condition(
          'NamespaceDeletionContentFailure',
          false,
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        ),
    counts.length > 0
      ? condition(
          'NamespaceContentRemaining',
          true,
          'SomeResourcesRemain',
          `Some resources are remaining: ${counts.join(', ')}`,
        )
      : condition('NamespaceContentRemaining', false, 'ContentRemoved', 'All content successfully removed'),
    kept.length > 0
      ? condition(
          'NamespaceFinalizersRemaining',
          true,
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${kept.join(', ')}`,
        )
      : condition(
          'NamespaceFinalizersRemaining',
          false,
          'ContentHasNoFinalizers',
          'All content-preserving finalizers finished',
        ),
  ];
}

function condition(
  type: string,
  status: boolean,
  reason: string,
  message: string,
): Omit<NamespaceCondition, 'lastTransitionTime'> {
  return { type, status: status ? 'True' : 'False', reason, message };
}

function discoveryFailed(groups: readonly string[]): string {
  const each = groups.map((group) => `${group}: stale GroupVersion discovery: ${group}`);
  return `Discovery failed for some groups, ${groups.length} failing: unable to retrieve the complete list of server APIs: ${each.join(', ')}`;
}

function contentFailed(failures: readonly string[]): string {
  const [first = ''] = failures;
  const all = failures.length === 1 ? first : `[${[...failures].toSorted().join(', ')}]`;
  return `Failed to delete all resource types, ${failures.length} remaining: ${all}`;
}
