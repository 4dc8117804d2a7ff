import { ANNOTATIONS } from '../api/names.ts';
import type { OperandKind } from '../api/operand-kinds.ts';
import { resolvedValue } from '../resolve/hold.ts';
import { fieldsOf } from '../resolve/shared-config.ts';
import { type IdentityHistory, readHistory } from '../spire/identity-history.ts';
import type { Singletons } from './singletons.ts';

/** historyOf returns the identities that the SPIRE server had; undefined if it has none yet. */
export function historyOf({ operands }: Singletons): IdentityHistory | undefined {
  return readHistory(operands.SpireServer?.metadata?.annotations?.[ANNOTATIONS.history]);
}

/**
 * forbiddenChange returns a message if an operand would change the identities that are in use, although the policy forbids
 * it; undefined if it may act.
 */
export function forbiddenChange(singletons: Singletons, kind: OperandKind): string | undefined {
  const history = historyOf(singletons);
  if (!history || singletons.parent?.spec.identityChangePolicy !== 'Forbid') return undefined;
  const changed = (['trustDomain', 'clusterName'] as const).filter((field) => {
    const value = resolvedValue(singletons.shared, field);
    return fieldsOf(kind).includes(field) && value !== undefined && value !== history[field].current;
  });
  if (changed.length === 0) return undefined;
  const parts = changed.map(
    (field) => `${field} from "${history[field].current}" to "${resolvedValue(singletons.shared, field)}"`,
  );
  return `identityChangePolicy is Forbid, so ${parts.join(' and ')} is not changed; restore the value, or set identityChangePolicy to Cascade`;
}
