import type { Operator } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import { createdWorkloads } from './declared-objects.ts';
import { type InstallState, operatorsOf } from './install-state.ts';
import { hasHeldObjects, kindsOf } from './operator-objects.ts';
import { scopeOf } from './plan-uninstall.ts';

/**
 * possiblyAbandoned returns the operators that may have left objects although nothing is installed any more: those that
 * were chosen. If none is chosen and nothing is installed, it is unknown which operators ran: then it returns all known
 * ones.
 */
export function possiblyAbandoned(
  { objects, workloads }: Pick<InstallState, 'objects' | 'workloads'>,
  chosen: readonly string[] | undefined,
  known: readonly string[],
): readonly string[] {
  const installed = operatorsOf(objects, workloads);
  const candidates = chosen ?? (installed.length === 0 ? known : []);
  return candidates.filter((name) => !installed.includes(name));
}

/**
 * abandonedOperators returns the operators that no process runs although objects wait for them with a finalizer, or
 * workloads that they created still run, as after an install was removed by other means. Such objects, and their kind,
 * could never be deleted.
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
    if (!abandoned.has(operator) && (await hasHeldObjects(client, kind, signal))) abandoned.add(operator);
  }
  for (const operator of operators.filter(({ name }) => !abandoned.has(name))) {
    if ((await createdWorkloads(client, [operator], scopes, signal)).length > 0) abandoned.add(operator.name);
  }
  return [...abandoned];
}
