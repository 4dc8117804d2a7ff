import { type OwnerReference, parseApiVersion, type Resource } from '@bowline/kubernetes';
import type { ObjectFacts } from '../objects/object-facts.ts';

/** GraphNode is an object that has owners or dependents. */
export interface GraphNode {
  readonly uid: string;
  /** The kind; undefined while only a reference to an unknown kind names the object. */
  readonly resource: Resource | undefined;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly owners: readonly OwnerReference[];
  readonly dependents: ReadonlySet<GraphNode>;
  /** Whether the object itself was observed, by watch or by a read; otherwise only references to it were. */
  readonly isObserved: boolean;
  readonly isDeleting: boolean;
  readonly isForeground: boolean;
  readonly isOrphaning: boolean;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
interface OwnNode extends Mutable<Omit<GraphNode, 'dependents'>> {
  readonly dependents: Set<OwnNode>;
}

/** GraphWork receives the work that a change of the graph requires. */
export interface GraphWork {
  /** Called if the node's owners may be gone, or its deletion may proceed. */
  attemptToDelete(node: GraphNode): void;
  /** Called if the node's dependents must drop their references to it. */
  attemptToOrphan(node: GraphNode): void;
}

/**
 * OwnerGraph maps owners to dependents, by uid. It holds only objects that have owners or dependents: other objects
 * cost nothing. It reflects what was observed, so it only selects the objects to check; reads from the server decide what
 * is deleted.
 */
export class OwnerGraph {
  readonly #nodes = new Map<string, OwnNode>();
  readonly #work: GraphWork;
  readonly #find: (apiVersion: string, kind: string) => Resource | undefined;

  constructor(work: GraphWork, find: (apiVersion: string, kind: string) => Resource | undefined) {
    this.#work = work;
    this.#find = find;
  }

  get size(): number {
    return this.#nodes.size;
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  /** upsert records the state of an object. */
  upsert(resource: Resource, facts: ObjectFacts): void {
    const known = this.#nodes.get(facts.uid);
    const isNotable = facts.owners.length > 0 || facts.isForeground || facts.isOrphaning;
    if (!known && !isNotable) return;
    const node = known ?? this.#add(facts.uid, resource, facts.name, facts.namespace);
    const wasForeground = node.isForeground;
    const wasOrphaning = node.isOrphaning;
    node.resource = resource;
    node.name = facts.name;
    node.namespace = facts.namespace;
    node.isObserved = true;
    node.isDeleting = facts.isDeleting;
    node.isForeground = facts.isForeground;
    node.isOrphaning = facts.isOrphaning;
    if (this.#setOwners(node, facts.owners)) this.#work.attemptToDelete(node);
    if (node.isOrphaning && !wasOrphaning) this.#work.attemptToOrphan(node);
    if (node.isForeground && !wasForeground) {
      this.#work.attemptToDelete(node);
      for (const dependent of node.dependents) this.#work.attemptToDelete(dependent);
    }
    this.#prune(node);
  }

  /** delete records that an object was deleted. */
  delete(uid: string): void {
    const node = this.#nodes.get(uid);
    if (!node) return;
    this.#setOwners(node, []);
    node.isObserved = false;
    node.isDeleting = false;
    node.isForeground = false;
    node.isOrphaning = false;
    for (const dependent of node.dependents) this.#work.attemptToDelete(dependent);
    this.#prune(node);
  }

  /** deleteMissing receives the uids of all objects of a kind: observed objects that are not among them are gone. */
  deleteMissing(resource: Resource, uids: ReadonlySet<string>): void {
    for (const node of [...this.#nodes.values()]) {
      if (node.isObserved && isSameKind(node.resource, resource) && !uids.has(node.uid)) this.delete(node.uid);
    }
  }

  /** unresolved yields the objects with an owner of an unknown kind. */
  *unresolved(): Generator<GraphNode> {
    for (const node of this.#nodes.values()) if (node.resource === undefined) yield* node.dependents;
  }

  /** setObserved records whether a read found the object that a reference names. */
  setObserved(uid: string, exists: boolean): void {
    const node = this.#nodes.get(uid);
    if (node) node.isObserved = exists;
  }

  /**
   * Returns whether the node must be checked: an owner is unknown, does not match its reference, or waits for its
   * dependents to be deleted.
   */
  #setOwners(node: OwnNode, owners: readonly OwnerReference[]): boolean {
    const before = node.owners;
    node.owners = owners;
    const kept = new Set(owners.map(({ uid }) => uid));
    for (const reference of before) {
      const owner = this.#nodes.get(reference.uid);
      if (!owner) continue;
      // An owner that waits for its dependents may proceed when one is gone, or no longer blocks.
      if (owner.isForeground) this.#work.attemptToDelete(owner);
      if (kept.has(reference.uid)) continue;
      owner.dependents.delete(node);
      this.#prune(owner);
    }
    let isDoubtful = false;
    for (const reference of owners) {
      const owner = this.#nodes.get(reference.uid) ?? this.#addReferred(reference, node.namespace);
      const isNew = !owner.dependents.has(node);
      owner.dependents.add(node);
      if (isNew && (!owner.isObserved || owner.isForeground || !isNamed(owner, reference, node.namespace)))
        isDoubtful = true;
    }
    return isDoubtful;
  }

  #addReferred({ uid, apiVersion, kind, name }: OwnerReference, namespace: string | undefined): OwnNode {
    const resource = this.#find(apiVersion, kind);
    return this.#add(uid, resource, name, resource?.scope === 'Cluster' ? undefined : namespace);
  }

  #add(uid: string, resource: Resource | undefined, name: string, namespace: string | undefined): OwnNode {
    const node: OwnNode = {
      uid,
      resource,
      name,
      namespace,
      owners: [],
      dependents: new Set(),
      isObserved: false,
      isDeleting: false,
      isForeground: false,
      isOrphaning: false,
    };
    this.#nodes.set(uid, node);
    return node;
  }

  #prune(node: OwnNode): void {
    if (node.owners.length > 0 || node.dependents.size > 0 || node.isForeground || node.isOrphaning) return;
    this.#nodes.delete(node.uid);
  }
}

/** isNamed reports whether a reference matches the object by kind and name too, and not only by uid. */
function isNamed(owner: OwnNode, reference: OwnerReference, namespace: string | undefined): boolean {
  const { resource } = owner;
  if (!resource || resource.kind !== reference.kind || owner.name !== reference.name) return false;
  if (resource.group !== parseApiVersion(reference.apiVersion).group) return false;
  return owner.namespace === undefined || owner.namespace === namespace;
}

function isSameKind(a: Resource | undefined, b: Resource): boolean {
  return a !== undefined && a.group === b.group && a.kind === b.kind;
}
