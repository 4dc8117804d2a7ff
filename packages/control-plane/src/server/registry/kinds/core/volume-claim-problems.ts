import type { LabelSelector, PersistentVolumeClaimSpec } from '@bowline/kubernetes';
import { dnsSubdomainProblems, type FieldProblem, parseQuantity, validateLabelSelector } from '@bowline/machinery';
import type { PartialObject } from '../shared/partial-object.ts';
import { invalid, invalids, notSupported, required } from '../shared/problems.ts';
import { ACCESS_MODES } from './access-modes.ts';

/** claimSpecProblems validates the spec of a claim. */
export function claimSpecProblems(path: string, spec: PartialObject<PersistentVolumeClaimSpec>): FieldProblem[] {
  const { accessModes = [], resources, selector, storageClassName, volumeMode } = spec;
  const problems: FieldProblem[] = [];
  // Validated as received: the validation looks for missing fields.
  if (selector) problems.push(...validateLabelSelector(selector as LabelSelector, `${path}.selector`));
  if (accessModes.length === 0) problems.push(required(`${path}.accessModes`, 'at least 1 access mode is required'));
  for (const mode of accessModes) {
    if (!ACCESS_MODES.includes(mode)) problems.push(notSupported(`${path}.accessModes`, mode, ACCESS_MODES));
  }
  const { storage } = resources?.requests ?? {};
  if (storage === undefined) problems.push(required(`${path}.resources[storage]`));
  else if (parseQuantity(storage).nanos <= 0n) {
    problems.push(invalid(`${path}.resources[storage]`, storage, 'must be greater than zero'));
  }
  if (storageClassName)
    problems.push(...invalids(`${path}.storageClassName`, storageClassName, dnsSubdomainProblems(storageClassName)));
  if (volumeMode !== undefined && !['Block', 'Filesystem'].includes(volumeMode)) {
    problems.push(notSupported(`${path}.volumeMode`, volumeMode, ['Block', 'Filesystem']));
  }
  return problems;
}
