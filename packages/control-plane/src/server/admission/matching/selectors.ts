import type { LabelSelector } from '@bowline/kubernetes';
import { labelSelector, type Selector } from '@bowline/machinery';
import type { Draft } from '../../registry/api-resource.ts';
import { internalError, notFound } from '../../status/api-status.ts';
import type { Storage } from '../../storage/storage.ts';
import { keyIn } from '../../storage/stored.ts';
import type { AdmissionRequest } from '../admission.ts';

/** MatchSelectors selects requests by the labels of their object and its namespace. */
export interface MatchSelectors {
  /** Undefined for a selector that no API server would have stored. */
  readonly namespaceSelector: Selector<unknown> | undefined;
  readonly objectSelector: Selector<unknown> | undefined;
}

/** readSelector returns a stored selector; an absent one selects everything. */
export function readSelector(selector: LabelSelector | undefined): Selector<unknown> | undefined {
  try {
    return labelSelector(selector ?? {});
  } catch {
    return undefined;
  }
}

/** selectsRequest reports whether both selectors match: that of objects either the new or the old object. */
export function selectsRequest(
  storage: Storage,
  { namespaceSelector, objectSelector }: MatchSelectors,
  request: AdmissionRequest,
): boolean {
  if (!namespaceSelector || !objectSelector) throw internalError('a stored selector is not valid');
  const { object, old } = request;
  if (!selectsObject(objectSelector, object) && !selectsObject(objectSelector, old)) return false;
  return selectsNamespace(storage, namespaceSelector, request);
}

function selectsObject(selector: Selector<unknown>, object: Draft | undefined): boolean {
  if (selector.requirements.length === 0) return true;
  return object !== undefined && selector.matches(object.metadata.labels);
}

/**
 * A namespace selector never excludes cluster-scoped objects; a namespace is matched by its own labels, as they will be
 * stored.
 */
function selectsNamespace(storage: Storage, selector: Selector<unknown>, request: AdmissionRequest): boolean {
  const { resource, subresource, namespace, name, operation, object } = request;
  const isNamespace = resource.resource === 'namespaces' && resource.group === '';
  if (selector.requirements.length === 0 || (namespace === '' && !isNamespace)) return true;
  if (isNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'))
    return selector.matches(object?.metadata.labels);
  const which = namespace || name;
  const stored = storage.get('namespaces', keyIn('', which));
  if (!stored) throw notFound({ group: '', resource: 'namespaces' }, which);
  return selector.matches(stored.labels);
}
