import { ConfigMap, type KubernetesObject, type ObjectKey, type Resource } from '@bowline/kubernetes';
import type { LiveClient } from '@bowline/runtime/controller';
import { AGENT_HASH } from '../agent/agent-daemon-set.ts';
import { AGENT_CONF } from '../agent/agent-input.ts';
import { OPERAND_KINDS, type OperandKind } from '../api/operand-kinds.ts';
import type { Config } from '../config.ts';
import { OIDC_HASH } from '../oidc/oidc-deployment.ts';
import { OIDC_CONF } from '../oidc/oidc-input.ts';
import { OPERAND_WORKLOADS } from '../operand/operand-kind.ts';
import type { Singletons } from '../operand/singletons.ts';
import { pendingInheritance } from '../resolve/inheritance.ts';
import { CONTROLLER_MANAGER_CONF, SERVER_CONF } from '../server/server-services.ts';
import { SERVER_HASHES } from '../server/server-stateful-set.ts';
import { AGENT, CONTROLLER_MANAGER, OIDC_PROVIDER, SERVER } from '../spire/names.ts';
import { fileHash } from '../spire/rendered-file.ts';
import type { MigrationState } from './migration-state.ts';

/** FinishContext is the part of a run's context that checks the end of a migration. */
export interface FinishContext {
  readonly deps: { readonly config: Config };
  readonly live: Pick<LiveClient, 'find'>;
  /** The kinds are known only when it runs. */
  readonly get: unknown;
}

interface WithTemplate extends KubernetesObject {
  readonly spec?: { readonly template: KubernetesObject };
}

interface RenderedFileLocation {
  readonly configMap: string;
  readonly key: string;
  /** The annotation of the pods that has the hash of the file. */
  readonly annotation: string;
}

const FILES: Readonly<Record<OperandKind, readonly RenderedFileLocation[]>> = {
  SpireServer: [
    { configMap: SERVER, key: SERVER_CONF, annotation: SERVER_HASHES.server },
    { configMap: CONTROLLER_MANAGER, key: CONTROLLER_MANAGER_CONF, annotation: SERVER_HASHES.controllerManager },
  ],
  SpireAgent: [{ configMap: AGENT, key: AGENT_CONF, annotation: AGENT_HASH }],
  SpiffeCSIDriver: [],
  SpireOIDCDiscoveryProvider: [{ configMap: OIDC_PROVIDER, key: OIDC_CONF, annotation: OIDC_HASH }],
};

/**
 * finishMigration returns how far the operands follow: `Linked` when each has its owner and inherits, `Completed` when
 * their controllers have rendered this configuration and the pods have it. It is the one that they had before, so that
 * none is restarted.
 */
export async function finishMigration(
  context: FinishContext,
  singletons: Singletons,
  backup: string | undefined,
): Promise<MigrationState> {
  const unlinked = OPERAND_KINDS.filter((kind) => !isLinked(kind, singletons));
  if (unlinked.length > 0) {
    return { phase: 'Applied', reason: `waiting until these inherit the values: ${unlinked.join(', ')}`, backup };
  }
  const rendered = await Promise.all(OPERAND_KINDS.map((kind) => isRendered(context, kind, singletons.operands[kind])));
  const outdated = OPERAND_KINDS.filter((_, index) => !rendered[index]);
  if (outdated.length > 0) {
    return { phase: 'Linked', reason: `waiting until these are reconciled: ${outdated.join(', ')}`, backup };
  }
  return { phase: 'Completed', reason: 'the operands inherit the values, and no pod was restarted for it', backup };
}

function isLinked(kind: OperandKind, { parent, operands, shared }: Singletons): boolean {
  const operand = operands[kind];
  if (!operand || operand.metadata?.deletionTimestamp !== undefined) return true;
  const { ownerReferences = [] } = operand.metadata ?? {};
  const isOwned = ownerReferences.some(({ uid }) => uid === parent?.metadata?.uid);
  return isOwned && !pendingInheritance(shared, kind, operand);
}

/** An operand without a workload has no pods that could be restarted. */
async function isRendered(
  { live, deps, get }: FinishContext,
  kind: OperandKind,
  operand: Singletons['operands'][OperandKind],
): Promise<boolean> {
  if (!operand) return true;
  const { operandNamespace: namespace } = deps.config;
  const { resource, name } = OPERAND_WORKLOADS[kind];
  // The kinds are sources of the controller.
  const workload = (get as (resource: Resource, key: ObjectKey) => WithTemplate | undefined)(resource, {
    namespace,
    name,
  });
  if (!workload) return true;
  if ((operand.status?.observedGeneration ?? 0) < (operand.metadata?.generation ?? 0)) return false;
  const annotations = workload.spec?.template.metadata?.annotations ?? {};
  const matches = FILES[kind].map(async ({ configMap, key, annotation }) => {
    const stored = await live.find(ConfigMap, { namespace, name: configMap });
    return annotations[annotation] === fileHash(stored?.data?.[key] ?? '');
  });
  return (await Promise.all(matches)).every(Boolean);
}
