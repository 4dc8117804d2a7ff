import { type FieldProblem, validateLabelSelector } from '@bowline/machinery';
import type { Spec } from '../api/config-map-sync.ts';
import { metadataProblems } from '../metadata/copied-metadata.ts';
import { transformProblems } from '../transforms/transform-problems.ts';

/**
 * checkSpec is everything wrong with a spec that its schema cannot say: templates, patterns, keys, names of labels. The
 * webhook refuses such a spec; one that came past it gets a condition.
 */
export function checkSpec(spec: Spec): readonly FieldProblem[] {
  const { destinationSelector, transforms = [], metadata } = spec;
  return [
    ...(destinationSelector ? validateLabelSelector(destinationSelector, 'spec.destinationSelector') : []),
    ...transformProblems(transforms),
    ...metadataProblems(metadata),
  ];
}
