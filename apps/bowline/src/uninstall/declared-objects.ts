import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import type { Operator } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import { COMPANION } from '../install/labels.ts';
import { type FoundObject, INSTALL_KINDS, listInstalled, ownerOf } from './install-state.ts';
import { objectsOf } from './operator-objects.ts';
import { type Plan, type Scope, withObjects } from './plan-uninstall.ts';

/**
 * withDeclaredObjects adds to a plan what only the declarations of its operators name: the workloads that they created,
 * and companions of kinds that no install has otherwise.
 */
export async function withDeclaredObjects(
  client: Pick<Client, 'list'>,
  plan: Plan,
  operators: readonly Operator[],
  signal: AbortSignal,
): Promise<Plan> {
  const companions: FoundObject[] = [];
  for (const resource of companionKinds(operators)) {
    const objects = await listInstalled(client, resource, plan.namespace, signal, COMPANION);
    companions.push(...objects.filter((found) => plan.operators.includes(ownerOf(found) ?? '')));
  }
  return withObjects(plan, companions, await createdWorkloads(client, operators, plan.scopes, signal));
}

/** createdWorkloads returns the workloads that operators created and that must not outlive them. */
export async function createdWorkloads(
  client: Pick<Client, 'list'>,
  operators: readonly Operator[],
  scopes: readonly Scope[],
  signal: AbortSignal,
): Promise<readonly FoundObject[]> {
  const found = new Map<string, FoundObject>();
  for (const operator of operators) {
    const scope = scopes.find((each) => each.operator === operator.name);
    if (!scope) continue;
    for (const { resource, labelSelector } of operator.createdWorkloads) {
      for await (const page of objectsOf(client, { resource, scope, labelSelector }, signal)) {
        for (const object of page) found.set(object.metadata?.uid ?? '', { resource, object });
      }
    }
  }
  return [...found.values()];
}

/** companionKinds returns the kinds of companions that are not searched in every install. */
function companionKinds(operators: readonly Operator[]): readonly Resource<KubernetesObject>[] {
  const kinds = operators.flatMap(({ companions }) => companions.map(({ resource }) => resource));
  const others = kinds.filter(({ id }) => !INSTALL_KINDS.some((kind) => kind.id === id));
  return [...new Map(others.map((kind) => [kind.id, kind])).values()];
}
