import {
  apiVersionOf,
  type KubernetesObject,
  keyOf,
  type ObjectKey,
  type OwnerReference,
  parseApiVersion,
  type Resource,
} from '@bowline/kubernetes';
import { BowlineError } from '../errors/bowline-error.ts';
import { describeKey } from './describe-object.ts';

/** Owner is the object that others belong to: when it is deleted, the garbage collector removes them. */
export interface Owner {
  readonly resource: Resource;
  readonly object: KubernetesObject;
}

/** OwnerReferenceOptions configures an owner reference. */
export interface OwnerReferenceOptions {
  /** Whether the owner controls the object; an object has at most one controller. Defaults to true. */
  readonly controller?: boolean | undefined;
  /** Whether a foreground deletion of the owner waits for the object. Defaults to true. */
  readonly blockOwnerDeletion?: boolean | undefined;
}

/**
 * ownerReference returns the reference to an owner. The owner must be stored: without uid the garbage collector would
 * remove the object.
 */
export function ownerReference(owner: Owner, options: OwnerReferenceOptions = {}): OwnerReference {
  const { resource, object } = owner;
  const { name, uid } = object.metadata ?? {};
  if (!name || !uid) {
    throw new BowlineError(
      'BOWLINE_OWNER_INVALID',
      `cannot refer to ${resource.kind} ${name ?? '(without name)'} as owner: it has no ${name ? 'uid' : 'name'}; pass the object as the server returned it`,
    );
  }
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    name,
    uid,
    controller: options.controller ?? true,
    blockOwnerDeletion: options.blockOwnerDeletion ?? true,
  };
}

/**
 * canOwn reports whether the garbage collector supports the ownership: an owner is cluster-scoped or in the same
 * namespace.
 */
export function canOwn(owner: Owner, namespace: string | undefined): boolean {
  return owner.resource.scope === 'Cluster' || owner.object.metadata?.namespace === namespace;
}

/**
 * assertCanOwn rejects an ownership that the garbage collector would treat as a missing owner, and so delete the
 * object.
 */
export function assertCanOwn(owner: Owner, resource: Resource, key: ObjectKey): void {
  if (canOwn(owner, key.namespace)) return;
  const where = key.namespace === undefined ? 'cluster-scoped' : `in namespace ${key.namespace}`;
  throw new BowlineError(
    'BOWLINE_OWNER_SCOPE',
    `cannot make ${describeKey(owner.resource, keyOf(owner.object))} the owner of ${describeKey(resource, key)}, which is ${where}: the garbage collector would delete it; mark it with labels and delete it in the cleanup`,
  );
}

/**
 * OwnerRelation is the relation of an object to an owner:
 * - `ours`: it refers to the owner;
 * - `stale`: it refers to an object of the owner's name that no longer exists, or to one that we have not seen yet;
 * - `foreign`: something else controls it;
 * - `none`: nothing controls it.
 */
export type OwnerRelation = 'ours' | 'stale' | 'foreign' | 'none';

/** relationTo returns the relation of an object to an owner. */
export function relationTo(owner: Owner, object: KubernetesObject): OwnerRelation {
  const references = object.metadata?.ownerReferences ?? [];
  const { uid } = ownerReference(owner);
  if (references.some((reference) => reference.uid === uid)) return 'ours';
  if (references.some((reference) => isSameName(reference, owner))) return 'stale';
  return references.some((reference) => reference.controller) ? 'foreign' : 'none';
}

/** The version is ignored: an owner is the same object in each of its versions. */
function isSameName(reference: OwnerReference, { resource, object }: Owner): boolean {
  const { group } = parseApiVersion(reference.apiVersion);
  return group === resource.group && reference.kind === resource.kind && reference.name === object.metadata?.name;
}

/**
 * ownerReferencesWith returns an object's owner references with a correct one to this owner: added, or repaired if it
 * had an outdated uid or version. It returns the same list when nothing has to change, and rejects a second controller.
 */
export function ownerReferencesWith(
  owner: Owner,
  object: KubernetesObject,
  options: OwnerReferenceOptions = {},
): readonly OwnerReference[] {
  const references = object.metadata?.ownerReferences ?? [];
  const wanted = ownerReference(owner, options);
  const others = references.filter((reference) => reference.uid !== wanted.uid && !isSameName(reference, owner));
  const controller = others.find((reference) => reference.controller);
  if (wanted.controller && controller) {
    throw new BowlineError(
      'BOWLINE_OWNER_CONFLICT',
      `cannot make ${owner.resource.kind} ${wanted.name} the controller of ${object.kind ?? 'object'} ${object.metadata?.name ?? ''}: ${controller.kind} ${controller.name} controls it; remove that reference first`,
    );
  }
  const current = references.filter((reference) => !others.includes(reference));
  const [only] = current;
  if (only && current.length === 1 && isSame(only, wanted)) return references;
  // At its old index, so that nothing else moves.
  const at = only ? references.indexOf(only) : others.length;
  return [...others.slice(0, at), wanted, ...others.slice(at)];
}

function isSame(a: OwnerReference, b: OwnerReference): boolean {
  return (
    a.uid === b.uid &&
    a.apiVersion === b.apiVersion &&
    a.kind === b.kind &&
    a.name === b.name &&
    (a.controller ?? false) === (b.controller ?? false) &&
    (a.blockOwnerDeletion ?? false) === (b.blockOwnerDeletion ?? false)
  );
}
