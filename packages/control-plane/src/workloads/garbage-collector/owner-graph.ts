import { type OwnerReference, parseApiVersion, type Resource } from '@bowline/kubernetes';
import type { ObjectFacts } from '../objects/object-facts.ts';

/** GraphNode is an object that owns or is owned. */
export interface GraphNode {
  readonly uid: string;
  /** The kind; undefined while only a reference to an unknown kind names the object. */
  readonly resource: Resource | undefined;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly owners: readonly OwnerReference[];
  readonly dependents: ReadonlySet<GraphNode>;
  /** Whether the object itself was seen, by watch or by a read; else only references to it were. */
  readonly isSeen: boolean;
  readonly isDeleting: boolean;
  readonly isForeground: boolean;
  readonly isOrphaning: boolean;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
interface OwnNode extends Mutable<Omit<GraphNode, 'dependents'>> {
  readonly dependents: Set<OwnNode>;
}

/** GraphWork is told what a change of the graph calls for. */
export interface GraphWork {
  /** Its owners may be gone, or its deletion may go on. */
  examine(node: GraphNode): void;
  /** Its dependents are to forget it. */
  orphan(node: GraphNode): void;
}

/**
 * OwnerGraph knows who owns whom, by uid. It holds the objects that own or are owned, and no others: what is alone costs
 * nothing. It is a memory of what was seen, so it says where to look; what is deleted is decided by reads of the server.
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

  /** seen takes in the state of an object. */
  seen(resource: Resource, facts: ObjectFacts): void {
    const known = this.#nodes.get(facts.uid);
    const isNotable = facts.owners.length > 0 || facts.isForeground || facts.isOrphaning;
    if (!known && !isNotable) return;
    const node = known ?? this.#add(facts.uid, resource, facts.name, facts.namespace);
    const wasForeground = node.isForeground;
    const wasOrphaning = node.isOrphaning;
    node.resource = resource;
    node.name = facts.name;
    node.namespace = facts.namespace;
    node.isSeen = true;
    node.isDeleting = facts.isDeleting;
    node.isForeground = facts.isForeground;
    node.isOrphaning = facts.isOrphaning;
    if (this.#setOwners(node, facts.owners)) this.#work.examine(node);
    if (node.isOrphaning && !wasOrphaning) this.#work.orphan(node);
    if (node.isForeground && !wasForeground) {
      this.#work.examine(node);
      for (const dependent of node.dependents) this.#work.examine(dependent);
    }
    this.#prune(node);
  }

  /** gone takes in that an object was deleted. */
  gone(uid: string): void {
    const node = this.#nodes.get(uid);
    if (!node) return;
    this.#setOwners(node, []);
    node.isSeen = false;
    node.isDeleting = false;
    node.isForeground = false;
    node.isOrphaning = false;
    for (const dependent of node.dependents) this.#work.examine(dependent);
    this.#prune(node);
  }

  /** complete takes in all objects of a kind: what was seen and is not among them is gone. */
  complete(resource: Resource, uids: ReadonlySet<string>): void {
    for (const node of [...this.#nodes.values()]) {
      if (node.isSeen && isSameKind(node.resource, resource) && !uids.has(node.uid)) this.gone(node.uid);
    }
  }

  /** unresolved are the objects with an owner of a kind that was not known. */
  *unresolved(): Generator<GraphNode> {
    for (const node of this.#nodes.values()) if (node.resource === undefined) yield* node.dependents;
  }

  /** verified notes whether a read found the object that a reference names. */
  verified(uid: string, exists: boolean): void {
    const node = this.#nodes.get(uid);
    if (node) node.isSeen = exists;
  }

  /** Answers whether the node must be looked at: an owner is unknown, is elsewhere, or waits for its dependents to go. */
  #setOwners(node: OwnNode, owners: readonly OwnerReference[]): boolean {
    const before = node.owners;
    node.owners = owners;
    const kept = new Set(owners.map(({ uid }) => uid));
    for (const reference of before) {
      const owner = this.#nodes.get(reference.uid);
      if (!owner) continue;
      // One that waits for its dependents may go on when one is gone, or no longer blocks.
      if (owner.isForeground) this.#work.examine(owner);
      if (kept.has(reference.uid)) continue;
      owner.dependents.delete(node);
      this.#prune(owner);
    }
    let isDoubtful = false;
    for (const reference of owners) {
      const owner = this.#nodes.get(reference.uid) ?? this.#addReferred(reference, node.namespace);
      const isNew = !owner.dependents.has(node);
      owner.dependents.add(node);
      if (isNew && (!owner.isSeen || owner.isForeground || !isNamed(owner, reference, node.namespace)))
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
      isSeen: false,
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

/** isNamed is whether a reference names the object by its kind and name too, and not only by its uid. */
function isNamed(owner: OwnNode, reference: OwnerReference, namespace: string | undefined): boolean {
  const { resource } = owner;
  if (!resource || resource.kind !== reference.kind || owner.name !== reference.name) return false;
  if (resource.group !== parseApiVersion(reference.apiVersion).group) return false;
  return owner.namespace === undefined || owner.namespace === namespace;
}

function isSameKind(a: Resource | undefined, b: Resource): boolean {
  return a !== undefined && a.group === b.group && a.kind === b.kind;
}
