import type { Condition, KubernetesObject, ObjectMeta, ObjectOf, Resource } from '@bowline/kubernetes';
import type { CustomResourceDefinition } from '@bowline/kubernetes/apiextensions-v1';
import type { FieldProblem } from '@bowline/machinery';
import type {
  DefaultedField,
  OptionalField,
  Read,
  ResourceDefinition,
  StructuralSchema,
  Typed,
  Written,
} from '@bowline/machinery/schema';

/** KindStatus is the part of the status that the runtime maintains for every kind. */
export interface KindStatus {
  /** The newest generation that the status describes. */
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

/**
 * CustomResource is a custom kind, created by `defineResource`: a `Resource` like that of a built-in kind, which also
 * carries everything that is derived from its schema. `T` is the type of its objects as read, `W` as written.
 */
export interface CustomResource<T = KubernetesObject, W = KubernetesObject, Id extends string = string>
  extends Resource<T, Id> {
  readonly definition: ResourceDefinition;
  /** The CustomResourceDefinition, as it is applied to a cluster. */
  readonly crd: CustomResourceDefinition;
  /** The schema of whole objects in this version. */
  readonly schema: StructuralSchema;
  /** Whether objects have a status subresource. */
  readonly hasStatus: boolean;
  /**
   * validate returns everything that the API server would reject in an object, with the same messages and field paths.
   * As on the server, unknown fields are dropped and defaults applied first. With `oldObject` the object is an update
   * of that one.
   */
  readonly validate: (object: unknown, options?: { readonly oldObject?: unknown }) => readonly FieldProblem[];
  /**
   * unknownFields returns the paths of an object's fields that the kind does not define, and the API server would drop:
   * `spec.sise`.
   */
  readonly unknownFields: (object: unknown) => readonly string[];
  /** withDefaults returns a written object as it will be read: with apiVersion, kind and the schema's defaults. */
  withDefaults(object: W): T;
  /** Never set: it only carries the type `W`. */
  readonly written?: W | undefined;
}

/** WrittenOf is the static type of a resource's objects as users write them: fields with defaults may be omitted. */
export type WrittenOf<R extends Resource> = 'definition' extends keyof R
  ? R extends { readonly written?: infer W | undefined }
    ? W
    : ObjectOf<R>
  : ObjectOf<R>;

/**
 * StatusOf is the static type of a kind's status; never for kinds that were not created by `defineResource` with a
 * status.
 */
export type StatusOf<R extends Resource> = 'definition' extends keyof R
  ? ObjectOf<R> extends { readonly status?: infer Status }
    ? NonNullable<Status>
    : never
  : never;

type Flat<T> = { readonly [K in keyof T]: T[K] };

/** ObjectBase holds the fields that objects of every kind have. */
interface ObjectBase {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
}

type MaybeSchema = Typed | undefined;

type ReadSpec<Spec extends MaybeSchema> = Spec extends Typed
  ? Spec extends DefaultedField
    ? { readonly spec: Read<Spec> }
    : Spec extends OptionalField
      ? { readonly spec?: Read<Spec> | undefined }
      : { readonly spec: Read<Spec> }
  : unknown;

type WrittenSpec<Spec extends MaybeSchema> = Spec extends Typed
  ? Spec extends DefaultedField | OptionalField
    ? { readonly spec?: Written<Spec> | undefined }
    : { readonly spec: Written<Spec> }
  : unknown;

type ReadStatus<Status extends MaybeSchema> = Status extends Typed
  ? { readonly status?: Flat<Read<Status> & KindStatus> | undefined }
  : unknown;

/** ReadObject is an object of a kind as the API server returns it. */
export type ReadObject<Spec extends MaybeSchema, Status extends MaybeSchema> = Flat<
  ObjectBase & ReadSpec<Spec> & ReadStatus<Status>
>;

/** WrittenObject is an object of a kind as its users write it: without status. */
export type WrittenObject<Spec extends MaybeSchema> = Flat<ObjectBase & WrittenSpec<Spec>>;

/** isCustomResource reports whether a kind was created by `defineResource`. */
export function isCustomResource(resource: Resource): resource is CustomResource {
  return 'definition' in resource && 'crd' in resource;
}

/** customResourceDefinition returns the CustomResourceDefinition of a kind, as it is applied to a cluster. */
export function customResourceDefinition(resource: Pick<CustomResource, 'crd'>): CustomResourceDefinition {
  return resource.crd;
}
