import type { OperandKind } from '../api/operand-kinds.ts';
import type { SpireServer } from '../api/spire-server.ts';
import type { SharedObjects } from '../operand/shared-objects.ts';
import { copyIn, inheritedValues, type Operand } from '../resolve/copies.ts';
import { DEPRECATED_COPIES, fieldsOf } from '../resolve/shared-config.ts';
import { containsPassword } from '../spire/connection-password.ts';
import type { Change } from './review.ts';

/**
 * deprecationWarnings returns warnings about deprecated copies that a request sets. Those that were inherited are not
 * the user's.
 */
export function deprecationWarnings(kind: OperandKind, { before, after }: Change<Operand>): readonly string[] {
  const inherited = inheritedValues(after);
  return fieldsOf(kind).flatMap((field) => {
    const [replacement, value] = [DEPRECATED_COPIES[field], copyIn(after, field)];
    const isSet = value !== undefined && value !== inherited[field] && value !== (before && copyIn(before, field));
    if (!replacement || !isSet) return [];
    return [
      `${kind}.spec.${field} is deprecated; set ZeroTrustWorkloadIdentityManager.spec.${replacement}, and remove it here`,
    ];
  });
}

/** serverWarnings returns warnings about a SpireServer. They contain no part of the connection string. */
export function serverWarnings({ before, after }: Change<SpireServer>): readonly string[] {
  const warnings: string[] = [];
  const { datastore, federation } = after.spec;
  if (before?.spec.datastore.connectionString !== datastore.connectionString && containsPassword(datastore)) {
    warnings.push(
      'spec.datastore.connectionString contains a password, which everyone who can read this object can read; store it in a Secret and set passwordSecretRef',
    );
  }
  const old = before?.spec.federation;
  if (old && !federation) {
    warnings.push(
      'spec.federation is removed: other trust domains can no longer read the bundle of this one, and their identities are no longer accepted once their bundles expire',
    );
  }
  if (old && federation && old.bundleEndpoint.profile !== federation.bundleEndpoint.profile) {
    warnings.push(
      `spec.federation.bundleEndpoint.profile changes from ${old.bundleEndpoint.profile} to ${federation.bundleEndpoint.profile}: other trust domains cannot read the bundle of this one until they use the new profile`,
    );
  }
  return warnings;
}

interface Side {
  readonly kind: OperandKind;
  readonly field: string;
}

/** The fields of two operands that must be equal for workloads to reach the agent. */
const PAIRS: readonly (readonly [Side, Side])[] = [
  [
    { kind: 'SpiffeCSIDriver', field: 'agentSocketPath' },
    { kind: 'SpireAgent', field: 'socketPath' },
  ],
  [
    { kind: 'SpiffeCSIDriver', field: 'pluginName' },
    { kind: 'SpireOIDCDiscoveryProvider', field: 'csiDriverName' },
  ],
];

/** mismatchWarnings returns warnings about fields that a request makes differ from those of another operand. */
export function mismatchWarnings(
  kind: OperandKind,
  { before, after }: Change<Operand>,
  { operands }: SharedObjects,
): readonly string[] {
  return PAIRS.flatMap((pair) => {
    const own = pair.find((side) => side.kind === kind);
    const other = pair.find((side) => side.kind !== kind);
    const operand = other && operands[other.kind];
    if (!own || !operand || operand.metadata?.deletionTimestamp !== undefined) return [];
    const [value, wanted] = [textIn(after, own.field), textIn(operand, other.field)];
    if (value === wanted || value === (before && textIn(before, own.field))) return [];
    return [
      `${own.kind}.spec.${own.field} is "${value}", but ${other.kind}.spec.${other.field} is "${wanted}"; workloads cannot get identities until both are equal`,
    ];
  });
}

function textIn({ spec }: Operand, field: string): string | undefined {
  const value: unknown = (spec as Readonly<Record<string, unknown>> | undefined)?.[field];
  return typeof value === 'string' ? value : undefined;
}
