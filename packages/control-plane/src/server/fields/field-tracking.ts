import type { JsonObject } from '@bowline/machinery';
import type { ApiResource, Draft } from '../registry/api-resource.ts';

/** FieldWriter identifies a writer in `metadata.managedFields`. */
export interface FieldWriter {
  /** The `fieldManager` of the request, or the start of its user agent. */
  readonly manager: string;
  readonly subresource: string;
  /** Wall time, in milliseconds. */
  readonly now: number;
}

/** FieldTracking tracks the ownership of fields. Drafts are changed in place. */
export interface FieldTracking {
  /** created records that the writer created the object. */
  created(resource: ApiResource, object: Draft, writer: FieldWriter): void;
  /** updated records what the writer changed since `old`; others lose the fields that were changed or removed. */
  updated(resource: ApiResource, object: Draft, old: Draft, writer: FieldWriter): void;
  /**
   * apply merges the applied object into the live one. Fields that the writer applied before and omits now are removed,
   * unless others own them too. It throws a StatusError (409, with a cause per field) when others own a field with
   * another value, unless `force`; also when the applied object does not have the shape of its kind. It returns the
   * merged draft, which may share parts with both objects; `old` is undefined when the object does not exist yet.
   * `applied` must be as the client sent it: omitted fields matter.
   */
  apply(
    resource: ApiResource,
    old: Draft | undefined,
    applied: JsonObject,
    writer: FieldWriter & { readonly force: boolean },
  ): Draft;
}
