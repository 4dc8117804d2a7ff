import { ANNOTATIONS } from '../../../operators/ztwim/src/api/names.ts';
import type { OperandKind } from '../../../operators/ztwim/src/api/operand-kinds.ts';
import type { SharedObjects } from '../../../operators/ztwim/src/operand/shared-objects.ts';
import type { SharedValues } from '../../../operators/ztwim/src/resolve/shared-config.ts';
import {
  objectsWith,
  operandWith,
  parentWith,
} from '../../../operators/ztwim/src/webhooks/shared-objects.test-support.ts';

/** PARENT is the kind of the central configuration. */
export const PARENT = 'ZeroTrustWorkloadIdentityManager';

/** KINDS are the kinds of the five objects. */
export const KINDS = [
  PARENT,
  'SpireServer',
  'SpireAgent',
  'SpiffeCSIDriver',
  'SpireOIDCDiscoveryProvider',
] as const satisfies readonly (OperandKind | typeof PARENT)[];

/** Kind is the kind of one of the five objects. */
export type Kind = (typeof KINDS)[number];

/** NAMESPACE is the namespace of the operands. */
export const NAMESPACE = 'zero-trust-workload-identity-manager';

/** Content is what a user writes into one of the five objects. */
export interface Content {
  readonly values: SharedValues;
  /** A text that no shared value depends on. */
  readonly other?: string | undefined;
  /** Of operands only. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** Of the central configuration only. */
  readonly policy?: 'Cascade' | 'Forbid' | undefined;
  readonly namespace?: string | undefined;
  /** Whether the bundle is named by an object, not by a string. */
  readonly hasBundleConfig?: boolean | undefined;
}

/** Stored is one of the five objects. */
export type Stored = NonNullable<SharedObjects['parent'] | SharedObjects['operands'][OperandKind]>;

/** specOf returns the spec that a user writes. */
export function specOf(kind: Kind, { values, other, policy, namespace, hasBundleConfig }: Content): object {
  const labels = other === undefined ? {} : { labels: { team: other } };
  if (kind !== PARENT) return { ...values, ...labels };
  const { bundleConfigMap, ...others } = values;
  const bundle = hasBundleConfig ? { bundleConfig: { name: bundleConfigMap } } : { bundleConfigMap };
  return {
    ...others,
    ...(bundleConfigMap === undefined ? {} : bundle),
    ...labels,
    ...(policy && { identityChangePolicy: policy }),
    ...(namespace !== undefined && { namespace }),
  };
}

/** newObject returns an object as the API server stores it. */
export function newObject(kind: Kind, content: Content): Stored {
  const spec = specOf(kind, content) as Readonly<Record<string, unknown>>;
  if (kind === PARENT) return parentWith(spec);
  return annotated(operandWith(kind, spec), content.annotations ?? {});
}

/** annotated returns an object with other annotations. Those that are null are removed. */
export function annotated<T extends Stored>(object: T, changes: Readonly<Record<string, string | null>>): T {
  const all = Object.entries({ ...object.metadata?.annotations, ...changes });
  const annotations = Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** NOTHING is a cluster without any of the five objects. */
export const NOTHING: SharedObjects = objectsWith(undefined);

/** storedIn returns one of the five objects. */
export function storedIn({ parent, operands }: SharedObjects, kind: Kind): Stored | undefined {
  return kind === PARENT ? parent : operands[kind];
}

/** withStored returns the objects with another version of one of them; undefined means that it does not exist. */
export function withStored(objects: SharedObjects, kind: Kind, object: Stored | undefined): SharedObjects {
  // The kind and the object belong together.
  const same = object as never;
  if (kind === PARENT) return { ...objects, parent: same };
  return { ...objects, operands: { ...objects.operands, [kind]: same } };
}

/** isDeleted reports whether an object is being deleted. */
export function isDeleted(object: Stored | undefined): boolean {
  return object?.metadata?.deletionTimestamp !== undefined;
}

/** annotationOf returns the annotation about inherited values. */
export function annotationOf(object: Stored | undefined): string | undefined {
  return object?.metadata?.annotations?.[ANNOTATIONS.inherited];
}
