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

/** KindStatus is what the runtime keeps in the status of every kind. */
export interface KindStatus {
  /** The newest generation that the status is about. */
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

/**
 * CustomResource is a kind of one's own, made by `defineResource`: a `Resource` like that of a built-in kind, which also
 * carries everything that follows from its schema. `T` is its objects as read, `W` as written.
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
   * validate is everything that the API server would find wrong with an object: its own words, its field paths. Before, as
   * there, unknown fields are dropped and defaults filled in. With `oldObject` the object is an update of that one.
   */
  readonly validate: (object: unknown, options?: { readonly oldObject?: unknown }) => readonly FieldProblem[];
  /** unknownFields are the paths of an object's fields that the kind does not know, and the API server would drop: `spec.sise`. */
  readonly unknownFields: (object: unknown) => readonly string[];
  /** withDefaults is a written object as it will be read: apiVersion, kind and the schema's defaults filled in. */
  withDefaults(object: W): T;
  /** Never set: carries `W`. */
  readonly written?: W | undefined;
}

/** WrittenOf is the static type of a resource's objects as somebody writes them: what has a default may be left out. */
export type WrittenOf<R extends Resource> = 'definition' extends keyof R
  ? R extends { readonly written?: infer W | undefined }
    ? W
    : ObjectOf<R>
  : ObjectOf<R>;

/** StatusOf is the static type of a kind's status; never for kinds that are not made by `defineResource` with one. */
export type StatusOf<R extends Resource> = 'definition' extends keyof R
  ? ObjectOf<R> extends { readonly status?: infer Status }
    ? NonNullable<Status>
    : never
  : never;

type Flat<T> = { readonly [K in keyof T]: T[K] };

/** ObjectBase is what objects of every kind have. */
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

/** isCustomResource tells a kind that was made by `defineResource` from any other. */
export function isCustomResource(resource: Resource): resource is CustomResource {
  return 'definition' in resource && 'crd' in resource;
}

/** customResourceDefinition is the CustomResourceDefinition of a kind, as it is applied to a cluster. */
export function customResourceDefinition(resource: Pick<CustomResource, 'crd'>): CustomResourceDefinition {
  return resource.crd;
}
