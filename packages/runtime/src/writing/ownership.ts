import { type KubernetesObject, keyOf, type ObjectKey, type Resource } from '@bowline/kubernetes';
import { BowlineError } from '../errors/bowline-error.ts';
import { describeHolder, describeKey } from './describe-object.ts';
import { assertCanOwn, type Owner, ownerReference, relationTo } from './owner-reference.ts';

/** Ownership determines which objects are ours: by their owner, or by labels. */
export interface Ownership {
  /** The object that the written one belongs to. */
  readonly owner?: Owner | undefined;
  /** Labels that only we set. An object that carries all of them is ours. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** OwnershipGuard reports whether a stored object is ours, by its metadata alone. */
export type OwnershipGuard = (metadata: NonNullable<KubernetesObject['metadata']>) => boolean;

/** hasOwnership reports whether an object carries our owner reference, even an outdated one, or our labels. */
export function hasOwnership(object: KubernetesObject, ownership: Ownership): boolean {
  const relation = ownership.owner ? relationTo(ownership.owner, object) : 'none';
  if (relation === 'ours' || relation === 'stale') return true;
  // Two controllers would fight over it, whatever its labels are.
  if (relation === 'foreign') return false;
  return hasLabels(object, ownership.labels);
}

function hasLabels(object: KubernetesObject, labels: Ownership['labels']): boolean {
  const wanted = Object.entries(labels ?? {});
  return wanted.length > 0 && wanted.every(([name, value]) => object.metadata?.labels?.[name] === value);
}

/** withOwnership returns a desired object with our owner reference and labels added. */
export function withOwnership<T extends KubernetesObject>(resource: Resource<T>, desired: T, ownership: Ownership): T {
  const { owner, labels } = ownership;
  if (!owner && !labels) return desired;
  const metadata: { [name: string]: unknown } = { ...desired.metadata };
  if (labels) metadata.labels = { ...desired.metadata?.labels, ...labels };
  if (owner) {
    assertCanOwn(owner, resource, keyOf(desired));
    const reference = ownerReference(owner);
    const others = (desired.metadata?.ownerReferences ?? []).filter(({ uid }) => uid !== reference.uid);
    metadata.ownerReferences = [...others, reference];
  }
  return { ...desired, metadata };
}

/** foreignObject returns the error for an object that is not ours and so is not changed. */
export function foreignObject(
  verb: string,
  resource: Resource,
  key: ObjectKey,
  object: KubernetesObject,
  ownership: Ownership | undefined,
): BowlineError {
  const label = Object.entries(ownership?.labels ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
  const handOver = label ? `, or hand it over with the label ${label}` : '';
  return new BowlineError(
    'BOWLINE_FOREIGN_OBJECT',
    `cannot ${verb} ${describeKey(resource, key)}: it exists and is not ours (${describeHolder(object)}); delete or rename it${handOver}`,
  );
}
