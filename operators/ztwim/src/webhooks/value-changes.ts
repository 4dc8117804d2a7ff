import type { FieldProblem } from '@bowline/machinery';
import { ANNOTATIONS } from '../api/names.ts';
import { bundleProblem, jwtIssuerProblem } from '../operand/validity.ts';
import type { Operands } from '../resolve/copies.ts';
import { conflictsIn, resolvedValue } from '../resolve/hold.ts';
import { type Conflict, SHARED_FIELDS, type SharedConfig, type SharedField } from '../resolve/shared-config.ts';
import { readHistory } from '../spire/identity-history.ts';

/** IDENTITY_FIELDS are the shared values that identities consist of. */
export const IDENTITY_FIELDS = ['trustDomain', 'clusterName'] as const satisfies readonly SharedField[];

/** ValueChange is a change of a value that all operands use. */
export interface ValueChange {
  readonly field: SharedField;
  readonly from: string;
  readonly to: string;
}

/** valueChanges returns the values that operands used before and that differ afterwards. */
export function valueChanges(before: SharedConfig, after: SharedConfig): readonly ValueChange[] {
  return SHARED_FIELDS.flatMap((field) => {
    const from = resolvedValue(before, field);
    const to = resolvedValue(after, field);
    return from === undefined || to === undefined || from === to ? [] : [{ field, from, to }];
  });
}

/** newConflicts returns the conflicts that did not exist before: all of them if there was no configuration. */
export function newConflicts(before: SharedConfig | undefined, after: SharedConfig): readonly Conflict[] {
  const known = new Set(before ? conflictsIn(before).map(identify) : []);
  return conflictsIn(after).filter((conflict) => !known.has(identify(conflict)));
}

/** Which object has the wanted value does not matter: the same two values contradict each other. */
function identify({ field, kind, value, wanted }: Conflict): string {
  return JSON.stringify([field, kind, value, wanted]);
}

/**
 * forbiddenChanges returns the problems with changes if identities must not change. The identity that is in use counts
 * or, before the first one, that of the configuration before. A value that is in use may always be restored.
 */
export function forbiddenChanges(
  before: SharedConfig | undefined,
  after: SharedConfig,
  operands: Operands,
): readonly FieldProblem[] {
  const history = readHistory(operands.SpireServer?.metadata?.annotations?.[ANNOTATIONS.history]);
  return IDENTITY_FIELDS.flatMap((field) => {
    const to = resolvedValue(after, field);
    const was = before && resolvedValue(before, field);
    const from = history?.[field].current ?? was;
    if (to === undefined || from === undefined || to === was || to === from) return [];
    const message = `Forbidden: ${field} would change from "${from}" to "${to}", but ZeroTrustWorkloadIdentityManager.spec.identityChangePolicy is Forbid; keep "${from}", or set identityChangePolicy to Cascade`;
    return [{ field: `spec.${field}`, reason: 'FieldValueForbidden', message }];
  });
}

const CHECKS = { jwtIssuer: jwtIssuerProblem, bundleConfigMap: bundleProblem } as const;

/** unusableValues returns messages about values that were not used before and that operands cannot use. */
export function unusableValues(
  before: SharedConfig | undefined,
  after: SharedConfig,
): readonly { readonly field: SharedField; readonly message: string }[] {
  return (['bundleConfigMap', 'jwtIssuer'] as const).flatMap((field) => {
    const value = resolvedValue(after, field);
    if (value === undefined || value === (before && resolvedValue(before, field))) return [];
    const problem = CHECKS[field](value);
    return problem ? [{ field, message: problem.message }] : [];
  });
}

const CONSEQUENCES: Readonly<Record<SharedField, string>> = {
  trustDomain:
    'the SPIRE server, the agents and the OIDC discovery provider are rolled out in this order, and identities of the old trust domain become invalid',
  clusterName: 'the SPIRE server and the agents are rolled out, and agents and their workloads get new identities',
  bundleConfigMap: 'the SPIRE server and the agents are rolled out, and the old ConfigMap is no longer updated',
  jwtIssuer:
    'the SPIRE server and the OIDC discovery provider are rolled out, and clients must accept the new issuer of JWT-SVIDs',
};

/** describeChange returns a warning that says what a change causes. */
export function describeChange({ field, from, to }: ValueChange): string {
  return `${field} changes from "${from}" to "${to}": ${CONSEQUENCES[field]}`;
}
