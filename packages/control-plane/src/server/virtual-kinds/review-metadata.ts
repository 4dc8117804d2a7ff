import type { FieldProblem } from '@bowline/machinery';
import type { Draft } from '../registry/api-resource.ts';

/** The order in which the API server writes metadata. */
const MEMBERS = [
  'name',
  'generateName',
  'namespace',
  'resourceVersion',
  'generation',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;

/** metadataProblems reports metadata in a review: it is not an object, and may have only a namespace. */
export function metadataProblems({ metadata }: Draft, namespace = ''): FieldProblem[] {
  const sent = MEMBERS.filter((member) => {
    const value = metadata[member];
    return typeof value === 'object' ? Object.keys(value).length > 0 : Boolean(value);
  });
  const isExpected = (member: (typeof MEMBERS)[number]): boolean =>
    member === 'managedFields' || (member === 'namespace' && metadata.namespace === namespace);
  if (sent.every(isExpected)) return [];
  const value = Object.fromEntries(sent.map((member) => [member, metadata[member]]));
  const message = `Invalid value: ${goJson(value)}: must be empty${namespace === '' ? '' : ' except for namespace'}`;
  return [{ field: 'metadata', reason: 'FieldValueInvalid', message }];
}

/** goJson serializes a value as Go does: characters with a meaning in HTML are escaped. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&]/g, (mark) => `\\u00${mark.charCodeAt(0).toString(16)}`);
}
