import type { KubernetesObject } from '@bowline/kubernetes';
import type { OperandCondition } from './condition.ts';
import type { Singletons } from './singletons.ts';

/**
 * settingsAgree returns the condition about settings that several operands have, and that must be equal: the folder of the
 * Workload API socket, and the name of the CSI driver. Operands that do not exist, or are being
 * deleted, are not compared.
 */
export function settingsAgree(
  { operands }: Singletons,
  kind: 'SpireAgent' | 'SpiffeCSIDriver' | 'SpireOIDCDiscoveryProvider',
): OperandCondition {
  const [agent, csi, oidc] = [
    existing(operands.SpireAgent),
    existing(operands.SpiffeCSIDriver),
    existing(operands.SpireOIDCDiscoveryProvider),
  ];
  const sockets = [agent?.spec.socketPath, csi?.spec.agentSocketPath] as const;
  const drivers = [csi?.spec.pluginName, oidc?.spec.csiDriverName] as const;
  if (kind !== 'SpireOIDCDiscoveryProvider' && differs(sockets)) {
    return disagree(
      'SocketPathMismatch',
      `SpireAgent.spec.socketPath is "${sockets[0]}", but SpiffeCSIDriver.spec.agentSocketPath is "${sockets[1]}", so pods do not get the socket; set both to the same folder`,
    );
  }
  if (kind !== 'SpireAgent' && differs(drivers)) {
    return disagree(
      'CSIDriverMismatch',
      `SpiffeCSIDriver.spec.pluginName is "${drivers[0]}", but SpireOIDCDiscoveryProvider.spec.csiDriverName is "${drivers[1]}", so the provider does not start; set both to the same name`,
    );
  }
  return { type: 'SettingsAgree', status: true, reason: 'Agree', message: 'the settings of the operands agree' };
}

function existing<T extends KubernetesObject>(operand: T | undefined): T | undefined {
  return operand?.metadata?.deletionTimestamp === undefined ? operand : undefined;
}

function differs([a, b]: readonly [string | undefined, string | undefined]): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

function disagree(reason: string, message: string): OperandCondition {
  return { type: 'SettingsAgree', status: false, reason, message };
}
