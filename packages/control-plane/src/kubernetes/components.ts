import { join } from 'node:path';
import { auditFolder, auditLogName } from '../audit/audit-log.ts';
import type { Component } from '../control-plane.ts';
import type { PkiFiles } from '../pki.ts';

/** ComponentSettings holds the values for the components' command lines. */
export interface ComponentSettings {
  readonly folder: string;
  readonly pki: PkiFiles;
  readonly ports: {
    readonly etcdClient: number;
    readonly etcdPeer: number;
    readonly apiServer: number;
    readonly controllerManager: number;
    readonly scheduler: number;
  };
  readonly workloads: boolean;
  readonly apiServerFlags: readonly string[];
}

/**
 * The controllers a cluster always needs: garbage collection, namespaces, ServiceAccounts, aggregated roles, the status of
 * admission policies.
 */
const essentialControllers = [
  'clusterrole-aggregation-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-controller',
  'validatingadmissionpolicy-status-controller',
];

/** componentKubeconfig returns the path of a component's kubeconfig in the control plane's folder. */
export function componentKubeconfig(folder: string, component: Component): string {
  return join(folder, `${component}.kubeconfig`);
}

/** auditPolicyFile returns the path of the audit policy. */
export function auditPolicyFile(folder: string): string {
  return join(folder, 'audit-policy.json');
}

/** logFile returns the path of a component's log. */
export function logFile(folder: string, component: Component): string {
  return join(folder, 'logs', `${component}.log`);
}

/** componentArgs returns a component's command line. */
export function componentArgs(component: Component, settings: ComponentSettings): readonly string[] {
  switch (component) {
    case 'etcd':
      return etcdArgs(settings);
    case 'kube-apiserver':
      return apiServerArgs(settings);
    case 'kube-controller-manager':
      return controllerManagerArgs(settings);
    case 'kube-scheduler':
      return schedulerArgs(settings);
  }
}

function etcdArgs({ folder, ports }: ComponentSettings): readonly string[] {
  const client = `http://127.0.0.1:${ports.etcdClient}`;
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    // Data survives a crash of the process but not of the machine: sufficient here, and several times faster.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

function apiServerArgs({ folder, pki, ports, apiServerFlags }: ComponentSettings): readonly string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcdClient}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.apiServer}`,
    `--tls-cert-file=${pki.server.certificate}`,
    `--tls-private-key-file=${pki.server.key}`,
    `--client-ca-file=${pki.authority.certificate}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    // A loopback address cannot be an endpoint of the `kubernetes` Service; trying would fill the log with errors.
    '--endpoint-reconciler-type=none',
    '--allow-privileged=true',
    '--authorization-mode=RBAC',
    '--enable-admission-plugins=OwnerReferencesPermissionEnforcement',
    // Independent of the address, so that tokens keep working when a later run uses another port.
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${pki.serviceAccounts.publicKey}`,
    `--service-account-signing-key-file=${pki.serviceAccounts.privateKey}`,
    `--audit-policy-file=${auditPolicyFile(folder)}`,
    `--audit-log-path=${join(auditFolder(folder), auditLogName)}`,
    // At most 1 GB: ten rotated files and the current one.
    '--audit-log-maxsize=100',
    '--audit-log-maxbackup=10',
    '--profiling=false',
    // Last, so that they take precedence.
    ...apiServerFlags,
  ];
}

function controllerManagerArgs({ folder, pki, ports, workloads }: ComponentSettings): readonly string[] {
  return [
    `--kubeconfig=${componentKubeconfig(folder, 'kube-controller-manager')}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.controllerManager}`,
    `--tls-cert-file=${pki.server.certificate}`,
    `--tls-private-key-file=${pki.server.key}`,
    `--root-ca-file=${pki.authority.certificate}`,
    `--service-account-private-key-file=${pki.serviceAccounts.privateKey}`,
    // Every controller uses its own ServiceAccount and role, as in production.
    '--use-service-account-credentials=true',
    `--cluster-signing-cert-file=${pki.authority.certificate}`,
    `--cluster-signing-key-file=${pki.authority.key}`,
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
    // A claim that is older than its volume or its class waits for the next synchronization: 15 s by default.
    '--pvclaimbinder-sync-period=2s',
    `--controllers=${workloads ? '*' : essentialControllers.join(',')}`,
    '--profiling=false',
  ];
}

function schedulerArgs({ folder, pki, ports }: ComponentSettings): readonly string[] {
  return [
    `--kubeconfig=${componentKubeconfig(folder, 'kube-scheduler')}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.scheduler}`,
    `--tls-cert-file=${pki.server.certificate}`,
    `--tls-private-key-file=${pki.server.key}`,
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
    '--profiling=false',
  ];
}
