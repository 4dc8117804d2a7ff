import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionStatus,
} from '@bowline/kubernetes';
import { acceptNames, namesInUse } from './accept-names.ts';
import { conditionOf, isEstablished, withCondition } from './conditions.ts';

const NO_NAMES: CustomResourceDefinitionNames = { plural: '', kind: '' };

/**
 * nextStatus returns the next status of a definition: first its names are accepted, then it is being installed, then it
 * is established. Each step is a separate write, so that watchers see them in order. It returns the same status when
 * nothing is left to do.
 */
export function nextStatus(
  definition: CustomResourceDefinition,
  others: Iterable<CustomResourceDefinition>,
  now: number,
): CustomResourceDefinitionStatus {
  const { spec, status } = definition;
  const holders: CustomResourceDefinitionNames[] = [];
  for (const other of others)
    if (other.spec.group === spec.group && other.status?.acceptedNames) holders.push(other.status.acceptedNames);
  const decision = acceptNames(spec.names, status?.acceptedNames ?? NO_NAMES, namesInUse(holders));
  const { isAccepted, reason, message } = decision;
  let conditions = withCondition(
    status?.conditions,
    { type: 'NamesAccepted', status: isAccepted ? 'True' : 'False', reason, message },
    now,
  );
  if (!isEstablished(definition)) conditions = withCondition(conditions, established(definition, isAccepted), now);
  return { ...status, acceptedNames: decision.names, conditions };
}

function established(definition: CustomResourceDefinition, isAccepted: boolean): Parameters<typeof withCondition>[1] {
  const type = 'Established';
  if (!isAccepted) return { type, status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
  const message = 'the initial names have been accepted';
  const isInstalling = conditionOf(definition, type)?.reason === 'Installing';
  if (!isInstalling) return { type, status: 'False', reason: 'Installing', message };
  return { type, status: 'True', reason: 'InitialNamesAccepted', message };
}
