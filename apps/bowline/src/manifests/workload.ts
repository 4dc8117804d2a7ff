import { createHash } from 'node:crypto';
import type {
  ConfigMap,
  Container,
  Deployment,
  KubernetesObject,
  ObjectMeta,
  PodDisruptionBudget,
  PodSpec,
  PodTemplateSpec,
  Probe,
  ResourceRequirements,
  Service,
  TopologySpreadConstraint,
} from '@bowline/kubernetes';
import { parseDuration } from '@bowline/machinery';
import type { Operator } from '@bowline/runtime';
import type { ManagerConfig } from '../config/manager-config.ts';
import { CONFIG_HASH, type InstallFields } from '../install/install-config.ts';
import { CONFIG_KEY, NAME, PART_OF } from '../install/labels.ts';
import { scratchVolumes } from './scratch-volumes.ts';
import { refuseSharedPorts, servicePorts } from './service-ports.ts';

/** Workload is one Deployment of an install with its related objects. */
export interface Workload {
  /** Also the name of its ServiceAccount and ConfigMap. */
  readonly name: string;
  readonly namespace: string;
  readonly operators: readonly Operator[];
  /** The fields of the Deployment and its pods that the install sets. */
  readonly install: InstallFields;
  readonly manager: ManagerConfig;
  /** The text of bowline.yaml. */
  readonly configText: string;
}

const CONFIG_FOLDER = '/etc/bowline';

/** workloadManifests returns the configuration, the Services, the Deployment and its disruption budget. */
export function workloadManifests(workload: Workload): readonly KubernetesObject[] {
  const { name, namespace } = workload;
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
    // With one replica a budget would block the draining of nodes.
    ...(replicasOf(workload) > 1 ? [disruptionBudget(workload)] : []),
  ];
}

/** portOf returns the port of a listen address; undefined if nothing is served. */
export function portOf(address: string): number | undefined {
  const port = Number(/\d+$/.exec(address)?.[0] ?? 0);
  return port === 0 ? undefined : port;
}

/** Without leader election a second replica would do the same work and conflict with the first. */
function replicasOf({ install, manager }: Workload): number {
  return install.replicas ?? (manager.leaderElection.enabled ? 2 : 1);
}

/** Returns the labels that select the pods. They can never change once the Deployment exists. */
function selectorOf({ name }: Workload): Readonly<Record<string, string>> {
  return { [NAME]: name, ...PART_OF };
}

function services(workload: Workload): readonly Service[] {
  const { name, namespace, operators, manager } = workload;
  const service = (metadata: ObjectMeta, name: string, port: number, targetPort: string | number): Service => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, namespace },
    spec: { selector: selectorOf(workload), ports: [{ name, port, targetPort, protocol: 'TCP' }] },
  });
  const metricsPort = portOf(manager.metrics.address);
  const serving = portOf(manager.webhook.address) === undefined ? [] : operators;
  return [
    ...(metricsPort === undefined ? [] : [service({ name: `${name}-metrics` }, 'metrics', metricsPort, 'metrics')]),
    ...serving
      .filter(({ webhooks }) => webhooks.length > 0)
      .map((each) =>
        service({ name: `${each.name}-webhook`, labels: { [NAME]: each.name } }, 'webhook', 443, 'webhook'),
      ),
    // By number: the names of container ports are shorter, and unique among the operators of a pod.
    ...servicePorts(operators).map(({ operator, service: each, port }) =>
      service({ name: `${operator}-${each}`, labels: { [NAME]: operator } }, each, port, port),
    ),
  ];
}

function deployment(workload: Workload): Deployment {
  const { name, namespace, manager } = workload;
  const replicas = replicasOf(workload);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: selectorOf(workload) },
      ...(manager.leaderElection.enabled ? {} : { strategy: { type: 'Recreate' } }),
      template: podTemplate(workload),
    },
  };
}

function podTemplate(workload: Workload): PodTemplateSpec {
  const { configText, install } = workload;
  return {
    metadata: {
      labels: { ...install.podLabels, ...selectorOf(workload) },
      annotations: {
        ...install.podAnnotations,
        // A changed configuration changes the template, so the Deployment rolls it out.
        [CONFIG_HASH]: createHash('sha256').update(configText).digest('hex').slice(0, 16),
      },
    },
    spec: podSpec(workload),
  };
}

function podSpec(workload: Workload): PodSpec {
  const { name, manager, install } = workload;
  const drainSeconds = Math.ceil(parseDuration(manager.drainTimeout) / 1000);
  const { imagePullSecrets, priorityClassName, nodeSelector, tolerations, affinity, volumes = [] } = install;
  // A volume of the install with the same name takes the place of an empty one.
  const scratch = scratchVolumes(workload.operators)
    .map(({ volume }) => volume)
    .filter((volume) => !volumes.some((each) => each.name === volume.name));
  return {
    serviceAccountName: name,
    enableServiceLinks: false,
    // Time for the drain, then for the Leases and the servers.
    terminationGracePeriodSeconds: drainSeconds + 15,
    securityContext: {
      ...install.podSecurityContext,
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...given({ imagePullSecrets, priorityClassName, nodeSelector, tolerations, affinity }),
    topologySpreadConstraints: spreadOf(workload),
    containers: [container(workload)],
    volumes: [{ name: 'config', configMap: { name } }, ...scratch, ...volumes],
  };
}

function spreadOf(workload: Workload): readonly TopologySpreadConstraint[] {
  const labelSelector = { matchLabels: selectorOf(workload) };
  const ours = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' } as const;
  return (workload.install.topologySpreadConstraints ?? [ours]).map((each) => ({ labelSelector, ...each }));
}

function container({ install, manager, operators }: Workload): Container {
  const health = portOf(manager.health.address);
  const ports = [
    ['health', health],
    ['metrics', portOf(manager.metrics.address)],
    ['webhook', operators.some(({ webhooks }) => webhooks.length > 0) ? portOf(manager.webhook.address) : undefined],
  ] as const;
  const declared = servicePorts(operators);
  refuseSharedPorts(
    declared,
    ports.flatMap(([name, port]) => (port === undefined ? [] : [[name, port] as const])),
  );
  const probe = (path: string): Probe => ({ httpGet: { path, port: 'health' }, timeoutSeconds: 5 });
  const { image = '', imagePullPolicy, env, envFrom, volumeMounts = [] } = install;
  return {
    name: 'manager',
    image,
    args: ['run', '--config', `${CONFIG_FOLDER}/${CONFIG_KEY}`],
    ...given({ imagePullPolicy, env, envFrom }),
    ports: [
      ...ports.flatMap(([name, containerPort]) =>
        containerPort === undefined ? [] : [{ name, containerPort, protocol: 'TCP' as const }],
      ),
      ...declared.map(({ port }) => ({ containerPort: port, protocol: 'TCP' as const })),
    ],
    ...(health === undefined
      ? {}
      : {
          livenessProbe: { ...probe('/livez'), initialDelaySeconds: 10, periodSeconds: 20 },
          readinessProbe: { ...probe('/readyz'), periodSeconds: 5 },
        }),
    resources: resourcesOf(install),
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'config', mountPath: CONFIG_FOLDER, readOnly: true },
      ...scratchVolumes(operators, manager.scratchFolder)
        .map(({ mount }) => mount)
        .filter(({ mountPath }) => !volumeMounts.some((each) => each.mountPath === mountPath)),
      ...volumeMounts,
    ],
  };
}

/** amounts converts quantities to strings, as the API returns them: YAML may have parsed them as numbers. */
function amounts(map: Readonly<Record<string, number | string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(map).map(([name, amount]) => [name, String(amount)]));
}

/** given omits the fields that are not set, so that nothing empty is printed. */
function given<T extends Readonly<Record<string, unknown>>>(fields: T): Partial<T> {
  // The remaining fields keep their types.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function resourcesOf({ resources = {} }: InstallFields): ResourceRequirements {
  return {
    requests: { cpu: '50m', memory: '96Mi', ...amounts(resources.requests) },
    limits: { memory: '512Mi', ...amounts(resources.limits) },
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
