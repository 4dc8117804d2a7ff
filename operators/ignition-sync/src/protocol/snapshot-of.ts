import type { Rollback } from './metadata.ts';
import type { GatewayPlan } from './rollout-plan.ts';

/** The part of the name of a snapshot after the gateway, and a number if there were several within a second. */
const TIME = /^\d{8}-\d{6}(?:-\d+)?$/;
const MAX_PREFIX_LENGTH = 220;

/** snapshotPrefix returns what the names of the snapshots of a gateway begin with, before a dash and their time. */
function snapshotPrefix(key: string): string {
  return key.replace(/^[^A-Za-z0-9]/, 'x').slice(0, MAX_PREFIX_LENGTH);
}

/**
 * snapshotOf returns the snapshot that a gateway stays at. Undefined: it follows its commit. A rollback without names applies
 * to the gateway that has the snapshot, which is part of its name.
 */
export function snapshotOf(
  rollback: Rollback | undefined,
  { name, key }: Pick<GatewayPlan, 'name' | 'key'>,
): string | undefined {
  if (rollback === undefined) return undefined;
  const { toSnapshot, gateways = [] } = rollback;
  if (gateways.length > 0) return gateways.includes(name) ? toSnapshot : undefined;
  const prefix = `${snapshotPrefix(key)}-`;
  return toSnapshot.startsWith(prefix) && TIME.test(toSnapshot.slice(prefix.length)) ? toSnapshot : undefined;
}
