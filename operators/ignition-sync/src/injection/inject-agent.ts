import type { Pod } from '@bowline/kubernetes';
import type { IgnitionSync, IgnitionSyncSpec } from '../api/ignition-sync.ts';
import { AGENT_CONTAINER, INJECTION_ANNOTATIONS, LABELS, POD_ANNOTATIONS } from '../api/names.ts';
import { relativePathProblem } from '../checks/relative-path.ts';
import type { Config } from '../config.ts';
import { agentContainer, gatewayUser } from './agent-container.ts';
import { agentVolumes } from './agent-volumes.ts';
import { findGateway, type GatewayContainer } from './gateway-container.ts';
import { selectSync } from './select-sync.ts';

/** Injection is the decision about a pod that requests an agent. */
export type Injection =
  /** The pod already has an agent. */
  | { readonly result: 'unchanged' }
  /** The pod can never have worked; the message has the reason and what to do. */
  | { readonly result: 'denied'; readonly message: string }
  /** The gateway starts without an agent. The pod has an annotation with the reason. */
  | { readonly result: 'not-injected'; readonly pod: Pod; readonly reason: string }
  | { readonly result: 'injected'; readonly pod: Pod; readonly warnings: readonly string[] };

/** InjectionOptions holds what decides about a pod, besides the pod. */
export interface InjectionOptions {
  /** The IgnitionSyncs in the namespace of the pod. */
  readonly syncs: readonly IgnitionSync[];
  /** Why no IgnitionSync of the namespace may be acted on. Undefined: all may. */
  readonly untrusted: string | undefined;
  readonly config: Pick<Config, 'agentUser' | 'maxRepositoryMiB'>;
  /** The image of agents whose IgnitionSync names none. Undefined: there is none. */
  readonly image: string | undefined;
}

/**
 * injectAgent decides about a pod that requests an agent. Only a fault of the pod itself denies it: everything else may
 * be wrong while a gateway that ran before is moved to another node.
 */
export function injectAgent(pod: Pod, options: InjectionOptions): Injection {
  if (hasAgent(pod)) return { result: 'unchanged' };
  const gateway = findGateway(pod);
  const fault = podFault(pod, gateway);
  if (fault !== undefined) return { result: 'denied', message: fault };
  const sync = options.untrusted ?? selectSync(pod, options.syncs);
  if (typeof sync === 'string') return notInjected(pod, sync);
  if ('message' in gateway) return notInjected(pod, `${gateway.message}; then recreate the pod`);
  const image = imageOf(sync.spec, options.image);
  if (image === undefined) {
    return notInjected(
      pod,
      `no image of the agent is configured; set agent.image.repository of the IgnitionSync "${sync.metadata?.name}", or agentImage of the operator, then recreate the pod`,
    );
  }
  return {
    result: 'injected',
    pod: withAgent(pod, sync, gateway, image, options.config),
    warnings: warningsOf(sync.spec),
  };
}

function hasAgent({ spec }: Pod): boolean {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].some(({ name }) => name === AGENT_CONTAINER);
}

/** podFault returns why a pod can never have worked, and how to fix it. */
function podFault(pod: Pod, gateway: ReturnType<typeof findGateway>): string | undefined {
  const servicePath = pod.metadata?.annotations?.[POD_ANNOTATIONS.servicePath];
  const problem = servicePath === undefined ? undefined : relativePathProblem(servicePath, { allowRoot: true });
  if (problem !== undefined) return `the annotation ${POD_ANNOTATIONS.servicePath} ${problem}`;
  if ('message' in gateway) return gateway.isFault ? gateway.message : undefined;
  return gatewayUser(pod, gateway) === 0
    ? `the container "${gateway.container.name}" runs as root; set runAsUser of its securityContext to the user that owns the data folder, 2003 in the image of Ignition`
    : undefined;
}

function imageOf({ agent }: IgnitionSyncSpec, fallback: string | undefined): string | undefined {
  const { repository, tag, digest } = agent?.image ?? {};
  if (repository === undefined) return fallback;
  return `${repository}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
}

function withAgent(
  pod: Pod,
  sync: IgnitionSync,
  gateway: GatewayContainer,
  image: string,
  config: InjectionOptions['config'],
): Pod {
  const { metadata, spec } = pod;
  const taken = new Set(spec?.volumes?.map(({ name }) => name));
  const volumes = agentVolumes(sync, config, (name) => taken.has(name));
  const container = agentContainer({ pod, sync, gateway, volumes, image, defaultUser: config.agentUser });
  const { [INJECTION_ANNOTATIONS.notInjected]: _, ...annotations } = metadata?.annotations ?? {};
  return {
    ...pod,
    metadata: {
      ...metadata,
      annotations: {
        ...annotations,
        [POD_ANNOTATIONS.crName]: sync.metadata?.name ?? '',
        [INJECTION_ANNOTATIONS.injected]: 'true',
      },
      labels: { ...metadata?.labels, [LABELS.agent]: 'true' },
    },
    spec: {
      ...spec,
      containers: spec?.containers ?? [],
      // First, so that the files are in place before any other container reads them.
      initContainers: [container, ...(spec?.initContainers ?? [])],
      volumes: [...(spec?.volumes ?? []), ...volumes.map(({ volume }) => volume)],
    },
  };
}

function notInjected(pod: Pod, reason: string): Injection {
  const { [INJECTION_ANNOTATIONS.injected]: _, ...annotations } = pod.metadata?.annotations ?? {};
  const metadata = { ...pod.metadata, annotations: { ...annotations, [INJECTION_ANNOTATIONS.notInjected]: reason } };
  return { result: 'not-injected', reason, pod: { ...pod, metadata } };
}

function warningsOf({ git }: IgnitionSyncSpec): readonly string[] {
  const { sshKey } = git.auth ?? {};
  return sshKey !== undefined && sshKey.knownHosts === undefined
    ? [
        'git.auth.sshKey has no knownHosts: the first host key that the Git server presents is trusted; set git.auth.sshKey.knownHosts.secretRef',
      ]
    : [];
}
