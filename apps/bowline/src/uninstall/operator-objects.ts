import { type KubernetesObject, keyOf, type Resource } from '@bowline/kubernetes';
import { forEachConcurrently } from '@bowline/machinery';
import type { Operator } from '@bowline/runtime';
import { type Client, isConflict, isKindNotServed, isNotFound } from '@bowline/runtime/client';
import { hasFinalizer, removeFinalizer } from '@bowline/runtime/writing';
import type { Scope } from './plan-uninstall.ts';

/** KindInScope is a kind of which an operator looks after objects. */
export interface KindInScope {
  readonly resource: Resource<KubernetesObject>;
  /** The finalizers that the operator puts on its objects. */
  readonly finalizers: readonly string[];
  readonly scope: Scope;
  /** Whether the kind is the operator's own. */
  readonly isOwn: boolean;
}

const PAGE = 500;
const IN_FLIGHT = 16;
const FIELD_MANAGER = 'bowline-uninstall';

/** kindsOf are the kinds of operators: their own, and any other that they keep from going with a finalizer. */
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

/** objectsOf gives a kind's objects that the install looked after, page by page: their metadata. A kind that is gone has none. */
export async function* objectsOf(
  client: Pick<Client, 'list'>,
  { resource, scope }: KindInScope,
  signal: AbortSignal,
): AsyncGenerator<readonly KubernetesObject[]> {
  const { namespaces, others } = scope;
  if (others === 'all') return;
  const places = resource.scope === 'Namespaced' ? (namespaces ?? [undefined]) : [undefined];
  for (const namespace of places) {
    let next: string | undefined;
    do {
      let page: Awaited<ReturnType<typeof client.list>>;
      try {
        page = await client.list(resource, { namespace, metadataOnly: true, limit: PAGE, continue: next, signal });
      } catch (error) {
        if (isKindNotServed(error) || isNotFound(error)) return;
        throw error;
      }
      next = page.metadata.continue || undefined;
      yield page.items.filter(({ metadata }) => !others.includes(metadata?.namespace ?? ''));
    } while (next !== undefined);
  }
}

/** hasOurFinalizer is whether an object waits for the operator. */
export function hasOurFinalizer(object: KubernetesObject, { finalizers }: KindInScope): boolean {
  return finalizers.some((finalizer) => hasFinalizer(object, finalizer));
}

/** holdsAny is whether any object of a kind waits for the operator. */
export async function holdsAny(client: Pick<Client, 'list'>, kind: KindInScope, signal: AbortSignal): Promise<boolean> {
  for await (const page of objectsOf(client, kind, signal)) {
    if (page.some((object) => hasOurFinalizer(object, kind))) return true;
  }
  return false;
}

/** releaseObjects takes our finalizers off, so that objects can go although nobody looks after them any more. Answers how many. */
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

/** isGone is whether a deletion failed because the object is gone; perhaps another one has its name. */
export function isGone(error: unknown): boolean {
  return isNotFound(error) || isConflict(error);
}

/** deleteObjects asks for the deletion of every object that is not being deleted yet. Answers those that are still there. */
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
