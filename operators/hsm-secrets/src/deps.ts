import type { CertificateAuthority } from '@bowline/runtime/certificates';
import type { KeyStream } from '@bowline/runtime/controller';
import type { ServiceContext } from '@bowline/runtime/manager';
import type { Agents } from './agent-client/agent-directory.ts';
import type { Config } from './config.ts';
import type { Guard } from './guard/guard-state.ts';
import type { Confirmations } from './memory/confirmations.ts';
import type { DeviceProblems } from './memory/device-problems.ts';
import type { MirrorRounds } from './memory/mirror-rounds.ts';
import type { Rejections } from './memory/rejections.ts';
import type { HsmMetrics } from './metrics.ts';
import type { SecretDeps } from './secret/deps.ts';

/** Deps holds the dependencies of the controllers besides the cluster. */
export interface Deps extends SecretDeps {
  readonly config: Config;
  /** The image of discovery pods. Undefined if it is neither configured nor known. */
  readonly image: string | undefined;
  /** The image of agents. Undefined if it is neither configured nor known. */
  readonly agentImage: string | undefined;
  /** The manager's namespace. */
  readonly managerNamespace: string;
  /** The name that the ClusterRole of discovery has in this install. */
  readonly discoveryRole: string;
  /** The admission policies of this install. */
  readonly guards: readonly Guard[];
  readonly authority: CertificateAuthority;
  readonly agents: Agents;
  /** followAgents keeps the addresses of agents current. */
  readonly followAgents: (signal: AbortSignal) => Promise<void>;
  /** simulate replaces discovery and agents by simulated ones, if that is configured. */
  readonly simulate: (signal: AbortSignal) => Promise<void>;
  readonly confirmations: Confirmations;
  readonly deviceProblems: DeviceProblems;
  /** The pools that have to be reconciled although no object has changed. */
  readonly wokenPools: KeyStream;
  /** Agents whose pods kubelet has rejected. */
  readonly rejections: Rejections;
  /** Retries of a PIN that were recorded in the status and are due: the uid of the pod and the version of the PIN. */
  readonly pinRetries: Set<string>;
  readonly mirrorRounds: MirrorRounds;
  /** The pools whose devices should be compared soon. */
  readonly requestedMirrors: KeyStream;
  readonly metrics: HsmMetrics;
  /** serveApi serves the REST API, if that is configured. */
  readonly serveApi: (signal: AbortSignal, service: ServiceContext) => Promise<void>;
  /** leadApi publishes where the API is found, and lets it write to the cluster, while this replica leads. */
  readonly leadApi: (signal: AbortSignal) => Promise<void>;
}
