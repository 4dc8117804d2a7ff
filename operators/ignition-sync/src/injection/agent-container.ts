import type { Container, EnvVar, Pod, ResourceRequirements, SecurityContext } from '@bowline/kubernetes';
import { AGENT_RESOURCES } from '../api/gateway-spec.ts';
import type { IgnitionSync, IgnitionSyncSpec } from '../api/ignition-sync.ts';
import { AGENT_CONTAINER, POD_ANNOTATIONS } from '../api/names.ts';
import type { AgentVolume } from './agent-volumes.ts';
import { type GatewayContainer, OWN_VARIABLES } from './gateway-container.ts';

/** AgentContainerOptions holds what the container of an agent is made of. */
export interface AgentContainerOptions {
  readonly pod: Pod;
  readonly sync: IgnitionSync;
  readonly gateway: GatewayContainer;
  readonly volumes: readonly AgentVolume[];
  readonly image: string;
  /** The user of pods that set none. */
  readonly defaultUser: number;
}

const HEALTH_PORT = 8082;
const METRICS_PORT = 8083;
const NAME_LABEL = 'app.kubernetes.io/name';
const SYNC_PERIOD = /^[0-9]{1,4}$/;
/** As that of a SyncProfile. */
const MAX_SYNC_PERIOD = 3600;

/** agentContainer returns the native sidecar of a gateway's pod. */
export function agentContainer({ pod, sync, gateway, volumes, image, defaultUser }: AgentContainerOptions): Container {
  const ports = agentPorts(pod);
  const { mount } = gateway;
  const probe = (path: string, periodSeconds: number, failureThreshold: number) => ({
    httpGet: { path, port: 'agent-health' },
    periodSeconds,
    failureThreshold,
  });
  return {
    name: AGENT_CONTAINER,
    image,
    imagePullPolicy: sync.spec.agent?.image?.pullPolicy ?? 'IfNotPresent',
    restartPolicy: 'Always',
    args: ['ignition-sync', 'agent', ...agentFlags({ pod, sync, gateway, volumes }, ports)],
    env: environment(gateway),
    ports: [
      { name: 'agent-health', containerPort: ports.health },
      { name: 'agent-metrics', containerPort: ports.metrics },
    ],
    // 5 minutes: the first sync of an empty folder fetches everything.
    startupProbe: probe('/startupz', 2, 150),
    livenessProbe: probe('/healthz', 10, 3),
    readinessProbe: probe('/readyz', 5, 3),
    resources: resourcesOf(sync.spec),
    securityContext: securityContext(pod, gateway, defaultUser),
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      {
        name: mount.name,
        mountPath: mount.mountPath,
        ...(mount.subPath === undefined ? {} : { subPath: mount.subPath }),
        ...(mount.subPathExpr === undefined ? {} : { subPathExpr: mount.subPathExpr }),
      },
      ...volumes.map((each) => each.mount),
    ],
  };
}

function resourcesOf({ agent }: IgnitionSyncSpec): ResourceRequirements {
  const { requests, limits } = agent?.resources ?? AGENT_RESOURCES;
  const texts = (quantities: Readonly<Record<string, string | number>>) =>
    Object.fromEntries(Object.entries(quantities).map(([name, quantity]) => [name, String(quantity)]));
  return {
    ...(requests === undefined ? {} : { requests: texts(requests) }),
    ...(limits === undefined ? {} : { limits: texts(limits) }),
  };
}

/** gatewayUser returns the user that the gateway runs as; undefined if the pod does not set one. */
export function gatewayUser({ spec }: Pod, { container }: GatewayContainer): number | undefined {
  return container.securityContext?.runAsUser ?? spec?.securityContext?.runAsUser;
}

/** The fields that pod security `restricted` requires, with the user and the labels that give access to the data folder. */
function securityContext(pod: Pod, gateway: GatewayContainer, defaultUser: number): SecurityContext {
  const { runAsGroup, seLinuxOptions } = gateway.container.securityContext ?? {};
  return {
    runAsUser: gatewayUser(pod, gateway) ?? defaultUser,
    runAsGroup: runAsGroup ?? pod.spec?.securityContext?.runAsGroup ?? defaultUser,
    runAsNonRoot: true,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
    ...(seLinuxOptions === undefined ? {} : { seLinuxOptions }),
  };
}

interface AgentPorts {
  readonly health: number;
  readonly metrics: number;
}

/** All containers of a pod share its ports. */
function agentPorts({ spec }: Pod): AgentPorts {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const used = new Set(containers.flatMap(({ ports = [] }) => ports.map(({ containerPort }) => containerPort)));
  const free = (port: number): number => (used.has(port) ? free(port + 1) : port);
  const health = free(HEALTH_PORT);
  used.add(health);
  return { health, metrics: free(METRICS_PORT) };
}

function agentFlags(
  { pod, sync, gateway, volumes }: Pick<AgentContainerOptions, 'pod' | 'sync' | 'gateway' | 'volumes'>,
  ports: AgentPorts,
): readonly string[] {
  const { annotations = {}, labels = {} } = pod.metadata ?? {};
  const { git, gateway: connection } = sync.spec;
  const gatewayName = annotations[POD_ANNOTATIONS.gatewayName] || labels[NAME_LABEL] || undefined;
  const syncPeriod = annotations[POD_ANNOTATIONS.syncPeriod] ?? '';
  const flags: Readonly<Record<string, string>> = {
    cr: literal(sync.metadata?.name ?? ''),
    'pod-name': '$(POD_NAME)',
    'pod-namespace': '$(POD_NAMESPACE)',
    'gateway-name': gatewayName === undefined ? '$(POD_NAME)' : literal(gatewayName),
    repo: literal(git.repo),
    'data-folder': literal(gateway.mount.mountPath),
    ...Object.fromEntries(volumes.flatMap((each) => Object.entries(each.flags))),
    'gateway-port': String(connection.port),
    'gateway-tls': String(connection.tls),
    // An agent that does not start would keep the gateway down; it reports a value that it cannot use.
    ...(isSyncPeriod(syncPeriod) ? { 'sync-period': syncPeriod } : {}),
    'health-address': `:${ports.health}`,
    'metrics-address': `:${ports.metrics}`,
  };
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
}

function isSyncPeriod(text: string): boolean {
  return SYNC_PERIOD.test(text) && Number(text) >= 1 && Number(text) <= MAX_SYNC_PERIOD;
}

/** literal returns a text of which the kubelet expands nothing. */
function literal(text: string): string {
  return text.replaceAll('$', '$$$$');
}

function environment({ env }: GatewayContainer): readonly EnvVar[] {
  const own = Object.entries(OWN_VARIABLES).map(([name, fieldPath]) => ({
    name,
    valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } },
  }));
  return [...own, ...env.filter(({ name }) => OWN_VARIABLES[name] === undefined)];
}
