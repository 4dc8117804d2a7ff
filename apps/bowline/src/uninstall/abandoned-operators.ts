import type { Operator } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import { type InstallState, operatorsOf } from './install-state.ts';
import { holdsAny, kindsOf } from './operator-objects.ts';
import { scopeOf } from './plan-uninstall.ts';

/**
 * perhapsAbandoned are the operators of which objects may be left although nothing is installed any more: those that were chosen. Whoever
 * chooses none and has nothing installed cannot say which there were: then all known ones.
 */
export function perhapsAbandoned(
  { objects, workloads }: Pick<InstallState, 'objects' | 'workloads'>,
  chosen: readonly string[] | undefined,
  known: readonly string[],
): readonly string[] {
  const installed = operatorsOf(objects, workloads);
  const asked = chosen ?? (installed.length === 0 ? known : []);
  return asked.filter((name) => !installed.includes(name));
}

/**
 * abandonedOperators are those for which objects wait with a finalizer although nobody runs them, as is so when an install was removed
 * by other means. Such objects, and their kind, could never be deleted.
 */
export async function abandonedOperators(
  client: Pick<Client, 'list'>,
  operators: readonly Operator[],
  { others }: Pick<InstallState, 'others'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const abandoned = new Set<string>();
  const scopes = operators.map(({ name }) => scopeOf(name, [], others));
  for (const kind of kindsOf(operators, scopes)) {
    const { operator } = kind.scope;
    if (!abandoned.has(operator) && (await holdsAny(client, kind, signal))) abandoned.add(operator);
  }
  return [...abandoned];
}
