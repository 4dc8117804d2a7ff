import { type FieldsV1, NO_FIELDS } from '@bowline/machinery';
import type { ApiResource } from '../registry/api-resource.ts';

const STATUS: FieldsV1 = { 'f:status': NO_FIELDS };
const SPEC: FieldsV1 = { 'f:spec': NO_FIELDS };

/** What else a write of the status does not change, by kind. */
const KEPT_BY_STATUS: Readonly<Record<string, FieldsV1>> = {
  'Deployment.apps': { ...SPEC, 'f:metadata': { 'f:labels': NO_FIELDS } },
  'Pod.': { ...SPEC, 'f:metadata': { 'f:deletionTimestamp': NO_FIELDS, 'f:ownerReferences': NO_FIELDS } },
};

/** resetFields are those that a write to a path cannot change, whatever it says of them: nobody comes to own them by it. */
export function resetFields({ group, kind, subresources }: ApiResource, subresource: string): FieldsV1 {
  if (subresource === 'status') return KEPT_BY_STATUS[`${kind}.${group}`] ?? SPEC;
  return subresources.has('status') ? STATUS : NO_FIELDS;
}
