import type { FieldProblem } from '@bowline/machinery';
import type { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { Operands } from '../resolve/copies.ts';
import { describeConflict, describeMissing, missingIn } from '../resolve/hold.ts';
import { resolve } from '../resolve/resolve.ts';
import { FIELD_OWNERS, SHARED_FIELDS, type SharedConfig, type SharedField } from '../resolve/shared-config.ts';
import { type Change, invalid, type Review, unusable } from './review.ts';
import {
  describeChange,
  forbiddenChanges,
  IDENTITY_FIELDS,
  newConflicts,
  unusableValues,
  valueChanges,
} from './value-changes.ts';

type Spec = ZeroTrustWorkloadIdentityManager['spec'];

/**
 * reviewConfig reviews a ZeroTrustWorkloadIdentityManager. Problems that it had before do not count, so that other
 * fields can still be changed.
 */
export function reviewConfig(
  change: Change<ZeroTrustWorkloadIdentityManager>,
  operands: Operands,
  operandNamespace: string,
): Review {
  const { before, after } = change;
  const namespaces = namespaceProblems(before?.spec, after.spec, operandNamespace);
  const result = resolve(after, operands);
  const old = before && resolve(before, operands);
  const required = old ? notMissingIn(old) : IDENTITY_FIELDS;
  const isForbidden = after.spec.identityChangePolicy === 'Forbid';
  return {
    problems: [
      ...namespaces,
      ...valueProblems(old, result, after),
      ...missingProblems(result, required),
      ...(isForbidden ? forbiddenChanges(old, result, operands) : []),
    ],
    warnings: old ? valueChanges(old, result).map(describeChange) : operandValues(result),
  };
}

function notMissingIn(config: SharedConfig): readonly SharedField[] {
  const missing = missingIn(config);
  return SHARED_FIELDS.filter((field) => !missing.includes(field));
}

function namespaceProblems(before: Spec | undefined, after: Spec, wanted: string): readonly FieldProblem[] {
  const values = [
    ['spec.namespace', before?.namespace, after.namespace],
    ['spec.bundleConfig.namespace', before?.bundleConfig?.namespace, after.bundleConfig?.namespace],
  ] as const;
  return values.flatMap(([field, old, value]) =>
    value === undefined || value === wanted || value === old
      ? []
      : [invalid(field, value, `the operator deploys into the namespace "${wanted}"; set it to this, or remove it`)],
  );
}

function valueProblems(
  before: SharedConfig | undefined,
  after: SharedConfig,
  { spec }: ZeroTrustWorkloadIdentityManager,
): readonly FieldProblem[] {
  return [
    ...newConflicts(before, after).map((conflict) =>
      invalid(pathOf(conflict.field, spec), conflict.wanted, describeConflict(conflict)),
    ),
    ...unusableValues(before, after).map(({ field, message }) => unusable(pathOf(field, spec), message)),
  ];
}

/** The bundle can be named in two ways. */
function pathOf(field: SharedField, { bundleConfig }: Spec): string {
  return field === 'bundleConfigMap' && bundleConfig ? 'spec.bundleConfig.name' : `spec.${field}`;
}

function missingProblems(result: SharedConfig, fields: readonly SharedField[]): readonly FieldProblem[] {
  return missingIn(result, fields).map((field) => ({
    field: `spec.${field}`,
    reason: 'FieldValueRequired',
    message: `Required value: ${describeMissing(field)}`,
  }));
}

function operandValues({ fields }: SharedConfig): readonly string[] {
  return SHARED_FIELDS.flatMap((field) => {
    const result = fields[field];
    if (result.state !== 'resolved' || result.source !== 'Operand') return [];
    return [
      `${field} is not set: "${result.value}" is used, because an operand (${FIELD_OWNERS[field].join(', ')}) has this value; set spec.${field} to it`,
    ];
  });
}
