import { type FieldProblem, validateLabelSelector } from '@bowline/machinery';
import type { Spec } from '../api/config-map-sync.ts';
import { metadataProblems } from '../metadata/copied-metadata.ts';
import { transformProblems } from '../transforms/transform-problems.ts';

/**
 * checkSpec returns all problems of a spec that its schema cannot express: templates, patterns, keys, label names. The
 * webhook refuses such a spec; one that bypassed it gets a condition.
 */
export function checkSpec(spec: Spec): readonly FieldProblem[] {
  const { destinationSelector, transforms = [], metadata } = spec;
  return [
    ...(destinationSelector ? validateLabelSelector(destinationSelector, 'spec.destinationSelector') : []),
    ...transformProblems(transforms),
    ...metadataProblems(metadata),
  ];
}
