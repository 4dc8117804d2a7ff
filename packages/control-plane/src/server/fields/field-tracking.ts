import type { JsonObject } from '@bowline/machinery';
import type { ApiResource, Draft } from '../registry/api-resource.ts';

/** FieldWriter is who writes, for `metadata.managedFields`. */
export interface FieldWriter {
  /** The `fieldManager` of the request, or the beginning of its user agent. */
  readonly manager: string;
  readonly subresource: string;
  /** Wall time, in milliseconds. */
  readonly now: number;
}

/** FieldTracking keeps account of who owns which field. Drafts are changed in place. */
export interface FieldTracking {
  /** created records that the writer made the object. */
  created(resource: ApiResource, object: Draft, writer: FieldWriter): void;
  /** updated records what the writer changed since `old`; others lose what was changed or removed. */
  updated(resource: ApiResource, object: Draft, old: Draft, writer: FieldWriter): void;
  /**
   * apply merges what a writer wants into what is there. What the writer applied before and leaves out now goes, unless
   * others own it too. Throws a StatusError (409, with a cause per field) when others own a field with another value, unless
   * `force`; also when what was sent does not have the shape of its kind. Answers the merged draft, which may hold parts of
   * both objects; `old` is undefined when nothing is there yet. `applied` is as the client sent it: what it leaves out counts.
   */
  apply(
    resource: ApiResource,
    old: Draft | undefined,
    applied: JsonObject,
    writer: FieldWriter & { readonly force: boolean },
  ): Draft;
}
