import { type KubernetesObject, keyOf, type Resource } from '@bowline/kubernetes';
import { forEachConcurrently } from '@bowline/machinery';
import type { Operator } from '@bowline/runtime';
import { type Client, isConflict, isKindNotServed, isNotFound } from '@bowline/runtime/client';
import { hasFinalizer, removeFinalizer } from '@bowline/runtime/writing';
import type { Scope } from './plan-uninstall.ts';

/** KindInScope is a kind whose objects an operator manages. */
export interface KindInScope {
  readonly resource: Resource<KubernetesObject>;
  /** The finalizers that the operator adds to its objects. */
  readonly finalizers: readonly string[];
  readonly scope: Scope;
  /** Whether the operator defines the kind. */
  readonly isOwn: boolean;
}

const PAGE = 500;
const IN_FLIGHT = 16;
const FIELD_MANAGER = 'bowline-uninstall';

/** kindsOf returns the kinds of operators: their own, and any other kind whose deletion they block with a finalizer. */
export function kindsOf(operators: readonly Operator[], scopes: readonly Scope[]): readonly KindInScope[] {
  return operators.flatMap((operator) => {
    const scope = scopes.find(({ operator: name }) => name === operator.name);
    if (!scope) return [];
    const kinds = new Map<string, KindInScope>();
    for (const resource of operator.resources) {
      kinds.set(resource.id, { resource, finalizers: [], scope, isOwn: true });
    }
    for (const { sources, finalization } of operator.controllers) {
      const primary = sources.find(({ role }) => role === 'primary')?.resource as
        | Resource<KubernetesObject>
        | undefined;
      if (!primary || !finalization) continue;
      const known = kinds.get(primary.id) ?? { resource: primary, finalizers: [], scope, isOwn: false };
      kinds.set(primary.id, { ...known, finalizers: [...known.finalizers, finalization.finalizer] });
    }
    return [...kinds.values()];
  });
}

/**
 * objectsOf yields the metadata of a kind's objects that the install managed, page by page; only those that the label
 * selector selects, if there is one. A kind that is gone has none.
 */
export async function* objectsOf(
  client: Pick<Client, 'list'>,
  { resource, scope, labelSelector }: Pick<KindInScope, 'resource' | 'scope'> & { readonly labelSelector?: string },
  signal: AbortSignal,
): AsyncGenerator<readonly KubernetesObject[]> {
  const { namespaces, others } = scope;
  if (others === 'all') return;
  const namespacesToList = resource.scope === 'Namespaced' ? (namespaces ?? [undefined]) : [undefined];
  for (const namespace of namespacesToList) {
    let next: string | undefined;
    do {
      let page: Awaited<ReturnType<typeof client.list>>;
      try {
        const options = { namespace, labelSelector, metadataOnly: true, limit: PAGE, continue: next, signal } as const;
        page = await client.list(resource, options);
      } catch (error) {
        if (isKindNotServed(error) || isNotFound(error)) return;
        throw error;
      }
      next = page.metadata.continue || undefined;
      yield page.items.filter(({ metadata }) => !others.includes(metadata?.namespace ?? ''));
    } while (next !== undefined);
  }
}

/** hasOurFinalizer reports whether an object waits for the operator. */
export function hasOurFinalizer(object: KubernetesObject, { finalizers }: KindInScope): boolean {
  return finalizers.some((finalizer) => hasFinalizer(object, finalizer));
}

/** hasHeldObjects reports whether any object of a kind waits for the operator. */
export async function hasHeldObjects(
  client: Pick<Client, 'list'>,
  kind: KindInScope,
  signal: AbortSignal,
): Promise<boolean> {
  for await (const page of objectsOf(client, kind, signal)) {
    if (page.some((object) => hasOurFinalizer(object, kind))) return true;
  }
  return false;
}

/**
 * releaseObjects removes our finalizers, so that objects can be deleted although no operator manages them any more. It
 * returns their number.
 */
export async function releaseObjects(client: Client, kind: KindInScope, signal: AbortSignal): Promise<number> {
  let released = 0;
  for await (const page of objectsOf(client, kind, signal)) {
    const held = page.filter((object) => hasOurFinalizer(object, kind));
    const failures = await forEachConcurrently(
      held,
      IN_FLIGHT,
      async (object) => {
        let current: KubernetesObject | undefined = object;
        for (const finalizer of kind.finalizers) {
          const options = { fieldManager: FIELD_MANAGER, signal };
          if (current) current = await removeFinalizer(client, kind.resource, current, finalizer, options);
        }
      },
      { signal },
    );
    if (failures[0]) throw failures[0].error;
    released += held.length;
  }
  return released;
}

/** isGone reports whether a deletion failed because the object is gone; another object may have its name. */
export function isGone(error: unknown): boolean {
  return isNotFound(error) || isConflict(error);
}

/**
 * deleteObjects requests the deletion of every object that is not being deleted yet. It returns those that still exist.
 */
export async function deleteObjects(
  client: Client,
  kind: KindInScope,
  signal: AbortSignal,
): Promise<readonly KubernetesObject[]> {
  const left: KubernetesObject[] = [];
  for await (const page of objectsOf(client, kind, signal)) {
    left.push(...page);
    const failures = await forEachConcurrently(
      page.filter(({ metadata }) => metadata?.deletionTimestamp === undefined),
      IN_FLIGHT,
      async (object) => {
        const { uid } = object.metadata ?? {};
        await client
          .delete(kind.resource, keyOf(object), { preconditions: uid ? { uid } : undefined, signal })
          .catch((error: unknown) => {
            if (!isGone(error)) throw error;
          });
      },
      { signal },
    );
    if (failures[0]) throw failures[0].error;
  }
  return left;
}
