import type { OperandKind } from '../api/operand-kinds.ts';
import type { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { Config } from '../config.ts';
import { combinePodSettings, type OperandInput, type PodSettings } from '../objects/operand-input.ts';
import { type EffectiveValues, type Hold, holdOf, resolvedValue } from '../resolve/hold.ts';
import type { OperandCondition } from './condition.ts';
import { configSource } from './config-source.ts';
import { forbiddenChange } from './identity-change.ts';
import type { Singletons } from './singletons.ts';

/** Acting is what an operand needs to act. */
export interface Acting extends Singletons {
  readonly parent: ZeroTrustWorkloadIdentityManager;
  /** The values that the operand needs are not empty. */
  readonly values: EffectiveValues;
  readonly source: OperandCondition;
}

/** Decision is whether an operand acts, or why it holds. */
export type Decision =
  | { readonly type: 'act'; readonly acting: Acting }
  | { readonly type: 'hold'; readonly hold: Hold };

/** decide returns whether an operand acts. Controllers and commands use it, so that both render the same. */
export function decide(singletons: Singletons, kind: OperandKind): Decision {
  const { parent, shared } = singletons;
  const hold = holdOf(shared, kind) ?? forbiddenHold(singletons, kind);
  if (hold) return { type: 'hold', hold };
  // Without it, every operand holds.
  if (!parent) throw new Error(`${kind} would act without a ZeroTrustWorkloadIdentityManager`);
  const values = {
    trustDomain: resolvedValue(shared, 'trustDomain') ?? '',
    clusterName: resolvedValue(shared, 'clusterName') ?? '',
    bundleConfigMap: resolvedValue(shared, 'bundleConfigMap') ?? '',
    jwtIssuer: resolvedValue(shared, 'jwtIssuer') ?? '',
  };
  return { type: 'act', acting: { ...singletons, parent, values, source: configSource(shared, kind) } };
}

/** Platform is what objects follow from besides the five objects. */
export interface Platform {
  readonly config: Config;
  readonly isOpenShift: boolean;
}

/** inputOf returns what the objects of any operand are rendered from. */
export function inputOf<Spec extends PodSettings>(
  { parent, values }: Acting,
  { spec }: { readonly spec: Spec },
  { config, isOpenShift }: Platform,
): OperandInput & { readonly spec: Spec; readonly values: EffectiveValues } {
  return { spec, pods: combinePodSettings(parent.spec, spec), values, config, isOpenShift };
}

/** Admission refuses such a change; this is for clusters whose webhooks were bypassed. */
function forbiddenHold(singletons: Singletons, kind: OperandKind): Hold | undefined {
  const message = forbiddenChange(singletons, kind);
  return message === undefined ? undefined : { reason: 'IdentityChangeForbidden', message, fields: [] };
}
