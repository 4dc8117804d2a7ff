import { isSameJson } from '@bowline/machinery';
import type { Draft } from '../registry/api-resource.ts';

/** keepTimes restores an object's managedFields when only their times would change: such a write changes nothing. */
export function keepTimes(object: Draft, old: Draft): void {
  const [now, before] = [object.metadata.managedFields, old.metadata.managedFields];
  if (!now || !before || now === before || now.length !== before.length) return;
  if (!isSameJson(contentOf(object), contentOf(old))) return;
  const timeless = (entries: typeof now): unknown => entries.map((entry) => ({ ...entry, time: undefined }));
  if (isSameJson(timeless(now), timeless(before))) object.metadata.managedFields = before;
}

function contentOf(object: Draft): unknown {
  const metadata = { ...object.metadata, managedFields: undefined, resourceVersion: undefined };
  return { ...object, apiVersion: undefined, kind: undefined, metadata };
}
