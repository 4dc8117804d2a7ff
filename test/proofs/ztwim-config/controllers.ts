import { OPERAND_KINDS, type OperandKind } from '../../../operators/ztwim/src/api/operand-kinds.ts';
import { forbiddenChange } from '../../../operators/ztwim/src/operand/identity-change.ts';
import type { SharedObjects } from '../../../operators/ztwim/src/operand/shared-objects.ts';
import { bundleProblem, jwtIssuerProblem, namespaceProblem } from '../../../operators/ztwim/src/operand/validity.ts';
import { conflictsIn, holdOf, missingIn, resolvedValue } from '../../../operators/ztwim/src/resolve/hold.ts';
import type { SharedConfig } from '../../../operators/ztwim/src/resolve/shared-config.ts';
import type { Identity } from '../../../operators/ztwim/src/spire/identity-history.ts';
import { NAMESPACE } from './five-objects.ts';
import type { Subject } from './subject.ts';

/** describeConfig returns a configuration, one line per value, conflict or missing value. */
export function describeConfig({ fields }: SharedConfig): readonly string[] {
  return Object.entries(fields).flatMap(([field, result]) => {
    if (result.state === 'missing') return [`${field} is missing`];
    if (result.state === 'resolved') return [`${field} is ${result.value} (${result.source})`];
    return result.conflicts.map(({ kind, value, wanted }) => `${field}: ${kind} has ${value}, wanted is ${wanted}`);
  });
}

/** holdReason returns why the controller of an operand would not act; undefined if it would. */
export function holdReason(objects: SharedObjects, kind: OperandKind, { resolve }: Subject): string | undefined {
  const shared = resolve(objects.parent, objects.operands);
  const hold = holdOf(shared, kind)?.reason;
  return hold ?? (forbiddenChange({ ...objects, shared }, kind) === undefined ? undefined : 'IdentityChangeForbidden');
}

/** Cause is why some operand would not act: what is wrong, and the kinds of operands that contradict. */
export interface Cause {
  readonly text: string;
  readonly field: string;
  readonly kinds: readonly string[];
}

/** causesOf returns why operands would not act, one by one. */
export function causesOf(objects: SharedObjects, { resolve }: Subject): readonly Cause[] {
  const { parent, operands } = objects;
  const shared = resolve(parent, operands);
  const cause = (field: string, problem: string, kinds: readonly string[] = []): Cause => ({
    text: `${field} ${problem}`,
    field,
    kinds,
  });
  const conflicts = conflictsIn(shared).map(({ field, kind, value, wanted, wantedBy }) =>
    cause(field, `${kind} ${value} ${wanted}`, [kind, wantedBy]),
  );
  const missing = missingIn(shared).map((field) => cause(field, 'missing'));
  const forbidden = (['trustDomain', 'clusterName'] as const).filter((field) =>
    OPERAND_KINDS.some((kind) => forbiddenChange({ ...objects, shared }, kind)?.includes(`${field} from`)),
  );
  const issuer = resolvedValue(shared, 'jwtIssuer');
  const bundle = resolvedValue(shared, 'bundleConfigMap');
  return [
    ...conflicts,
    ...missing,
    ...forbidden.map((field) => cause(field, 'forbidden')),
    ...(issuer !== undefined && jwtIssuerProblem(issuer) ? [cause('jwtIssuer', `unusable ${issuer}`)] : []),
    ...(bundle !== undefined && bundleProblem(bundle) ? [cause('bundleConfigMap', `unusable ${bundle}`)] : []),
    ...(parent && namespaceProblem(parent, { operandNamespace: NAMESPACE }) ? [cause('namespace', 'wrong')] : []),
  ];
}

/** valuesToRender returns the identity that the server would render; undefined if it would not act. */
export function valuesToRender(objects: SharedObjects, subject: Subject): Identity | undefined {
  if (holdReason(objects, 'SpireServer', subject) !== undefined) return undefined;
  const shared = subject.resolve(objects.parent, objects.operands);
  const trustDomain = resolvedValue(shared, 'trustDomain');
  const clusterName = resolvedValue(shared, 'clusterName');
  return trustDomain === undefined || clusterName === undefined ? undefined : { trustDomain, clusterName };
}
