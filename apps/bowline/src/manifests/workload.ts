import { createHash } from 'node:crypto';
import type {
  ConfigMap,
  Container,
  Deployment,
  KubernetesObject,
  ObjectMeta,
  PodDisruptionBudget,
  PodTemplateSpec,
  Probe,
  Service,
} from '@bowline/kubernetes';
import { parseDuration } from '@bowline/machinery';
import type { Operator } from '@bowline/runtime';
import type { ManagerConfig } from '../config/manager-config.ts';
import { CONFIG_KEY, NAME, PART_OF } from '../install/labels.ts';

/** Workload is one Deployment of an install and what stands around it. */
export interface Workload {
  /** Also the name of its ServiceAccount and ConfigMap. */
  readonly name: string;
  readonly namespace: string;
  readonly operators: readonly Operator[];
  readonly image: string;
  readonly manager: ManagerConfig;
  /** bowline.yaml. */
  readonly configText: string;
}

const CONFIG_FOLDER = '/etc/bowline';

/** workloadManifests is the configuration, the Services, the Deployment and its disruption budget. */
export function workloadManifests(workload: Workload): readonly KubernetesObject[] {
  const { name, namespace, manager } = workload;
  const configMap: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data: { [CONFIG_KEY]: workload.configText },
  };
  return [
    configMap,
    ...services(workload),
    deployment(workload),
    // With one replica a budget would keep nodes from being drained.
    ...(replicasOf(manager) > 1 ? [disruptionBudget(workload)] : []),
  ];
}

/** portOf is the port of a listen address; undefined for nowhere. */
export function portOf(address: string): number | undefined {
  const port = Number(/\d+$/.exec(address)?.[0] ?? 0);
  return port === 0 ? undefined : port;
}

/** Without leader election a second replica would do the same work against the first. */
function replicasOf({ leaderElection }: ManagerConfig): number {
  return leaderElection.enabled ? 2 : 1;
}

/** What selects the pods: it can never change once the Deployment exists. */
function selectorOf({ name }: Workload): Readonly<Record<string, string>> {
  return { [NAME]: name, ...PART_OF };
}

function services(workload: Workload): readonly Service[] {
  const { name, namespace, operators, manager } = workload;
  const service = (metadata: ObjectMeta, port: number, targetPort: string): Service => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, namespace },
    spec: { selector: selectorOf(workload), ports: [{ name: targetPort, port, targetPort, protocol: 'TCP' }] },
  });
  const metricsPort = portOf(manager.metrics.address);
  const serving = portOf(manager.webhook.address) === undefined ? [] : operators;
  return [
    ...(metricsPort === undefined ? [] : [service({ name: `${name}-metrics` }, metricsPort, 'metrics')]),
    ...serving
      .filter(({ webhooks }) => webhooks.length > 0)
      .map((each) => service({ name: `${each.name}-webhook`, labels: { [NAME]: each.name } }, 443, 'webhook')),
  ];
}

function deployment(workload: Workload): Deployment {
  const { name, namespace, manager } = workload;
  const replicas = replicasOf(manager);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: selectorOf(workload) },
      ...(replicas > 1 ? {} : { strategy: { type: 'Recreate' } }),
      template: podTemplate(workload),
    },
  };
}

function podTemplate(workload: Workload): PodTemplateSpec {
  const { name, manager, configText } = workload;
  const drainSeconds = Math.ceil(parseDuration(manager.drainTimeout) / 1000);
  return {
    metadata: {
      labels: selectorOf(workload),
      // A changed configuration is a changed template: the Deployment rolls it out.
      annotations: { 'bowline.dev/config-hash': createHash('sha256').update(configText).digest('hex').slice(0, 16) },
    },
    spec: {
      serviceAccountName: name,
      enableServiceLinks: false,
      // The drain, then the Leases and the servers.
      terminationGracePeriodSeconds: drainSeconds + 15,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: selectorOf(workload) },
        },
      ],
      containers: [container(workload)],
      volumes: [{ name: 'config', configMap: { name } }],
    },
  };
}

function container({ image, manager, operators }: Workload): Container {
  const health = portOf(manager.health.address);
  const ports = [
    ['health', health],
    ['metrics', portOf(manager.metrics.address)],
    ['webhook', operators.some(({ webhooks }) => webhooks.length > 0) ? portOf(manager.webhook.address) : undefined],
  ] as const;
  const probe = (path: string): Probe => ({ httpGet: { path, port: 'health' }, timeoutSeconds: 5 });
  return {
    name: 'manager',
    image,
    args: ['run', '--config', `${CONFIG_FOLDER}/${CONFIG_KEY}`],
    ports: ports.flatMap(([name, containerPort]) =>
      containerPort === undefined ? [] : [{ name, containerPort, protocol: 'TCP' as const }],
    ),
    ...(health === undefined
      ? {}
      : {
          livenessProbe: { ...probe('/livez'), initialDelaySeconds: 10, periodSeconds: 20 },
          readinessProbe: { ...probe('/readyz'), periodSeconds: 5 },
        }),
    resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '512Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [{ name: 'config', mountPath: CONFIG_FOLDER, readOnly: true }],
  };
}

function disruptionBudget(workload: Workload): PodDisruptionBudget {
  const { name, namespace } = workload;
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace },
    spec: { minAvailable: 1, selector: { matchLabels: selectorOf(workload) } },
  };
}
