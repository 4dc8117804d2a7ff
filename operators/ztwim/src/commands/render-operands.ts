import { apiVersionOf, ConfigMap, type KubernetesObject } from '@bowline/kubernetes';
import { agentObjects } from '../agent/agent-objects.ts';
import { agentValidity } from '../agent/agent-validity.ts';
import { OPERAND_KINDS, type OperandKind } from '../api/operand-kinds.ts';
import { csiObjects } from '../csi/csi-objects.ts';
import { csiValidity } from '../csi/csi-validity.ts';
import type { Child } from '../objects/child.ts';
import { oidcObjects } from '../oidc/oidc-objects.ts';
import { oidcValidity } from '../oidc/oidc-validity.ts';
import { type Acting, decide, inputOf, type Platform } from '../operand/acting.ts';
import type { OperandCondition } from '../operand/condition.ts';
import { historyOf } from '../operand/identity-change.ts';
import { settingsAgree } from '../operand/settings-agree.ts';
import type { SharedObjects } from '../operand/shared-objects.ts';
import { resolve } from '../resolve/resolve.ts';
import { bundleConfigMap } from '../server/ensure-bundle.ts';
import type { ServerInput } from '../server/server-input.ts';
import { serverObjects } from '../server/server-objects.ts';
import { serverValidity, ttlValidity } from '../server/server-validity.ts';
import { nextHistory } from '../spire/identity-history.ts';

/** OperandRendering holds the objects of an operand, and the conditions that controllers would report about it. */
export interface OperandRendering {
  readonly kind: OperandKind;
  /** In the order in which they are written. Empty if a condition is False that prevents writing them. */
  readonly objects: readonly KubernetesObject[];
  /** Why there are no objects; undefined if there are. */
  readonly problem: string | undefined;
  /** What to correct although there are objects. */
  readonly warnings: readonly string[];
}

/**
 * renderOperands renders the objects of all operands that exist, with the functions that the controllers use. Hashes of
 * Secrets, owner references and issued certificates are not part of them: only a cluster has these.
 */
export function renderOperands(objects: SharedObjects, platform: Platform): readonly OperandRendering[] {
  const singletons = { ...objects, shared: resolve(objects.parent, objects.operands) };
  return OPERAND_KINDS.filter((kind) => objects.operands[kind] !== undefined).map((kind) => {
    const decision = decide(singletons, kind);
    if (decision.type === 'hold') return { kind, objects: [], problem: decision.hold.message, warnings: [] };
    return rendering(kind, renderers[kind](decision.acting, platform));
  });
}

interface Rendered {
  /** The operand is rendered only if these are True. */
  readonly required: readonly OperandCondition[];
  readonly others: readonly OperandCondition[];
  readonly render: () => readonly Child[];
}

function rendering(kind: OperandKind, { required, others, render }: Rendered): OperandRendering {
  const failed = required.find(({ status }) => !status);
  if (failed) return { kind, objects: [], problem: failed.message, warnings: [] };
  const warnings = others.filter(({ status }) => !status).map(({ message }) => message);
  return { kind, objects: render().map(manifestOf), problem: undefined, warnings };
}

function manifestOf({ resource, object }: Child): KubernetesObject {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object };
}

const renderers: { readonly [K in OperandKind]: (acting: Acting, platform: Platform) => Rendered } = {
  SpireServer: (acting, platform) => {
    const object = required(acting.operands.SpireServer);
    const known = historyOf(acting);
    const input: ServerInput = {
      ...inputOf(acting, object, platform),
      history: nextHistory(known, acting.values),
      secretsHash: undefined,
    };
    return {
      required: [serverValidity(object, acting, platform.config, { history: known }), ttlValidity(object)],
      others: [],
      render: () => {
        const objects = serverObjects(input);
        const bundle = { resource: ConfigMap, object: bundleConfigMap(input), condition: 'BundleConfigAvailable' };
        // The controller creates the bundle after the other objects; pods start when it exists.
        return [...objects, bundle];
      },
    };
  },
  SpireAgent: (acting, platform) => ({
    required: [agentValidity(acting, platform.config)],
    others: [settingsAgree(acting, 'SpireAgent')],
    render: () => agentObjects(inputOf(acting, required(acting.operands.SpireAgent), platform)),
  }),
  SpiffeCSIDriver: (acting, platform) => ({
    required: [csiValidity(acting, platform.config)],
    others: [settingsAgree(acting, 'SpiffeCSIDriver')],
    render: () => csiObjects(inputOf(acting, required(acting.operands.SpiffeCSIDriver), platform)),
  }),
  SpireOIDCDiscoveryProvider: (acting, platform) => ({
    required: [oidcValidity(acting, platform.config)],
    others: [settingsAgree(acting, 'SpireOIDCDiscoveryProvider')],
    render: () => oidcObjects(inputOf(acting, required(acting.operands.SpireOIDCDiscoveryProvider), platform)),
  }),
};

/** Only operands that exist are rendered. */
function required<T>(operand: T | undefined): T {
  if (operand === undefined) throw new Error('the operand does not exist');
  return operand;
}
