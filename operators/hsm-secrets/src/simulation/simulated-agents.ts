import { hash } from 'node:crypto';
import { keyString, Pod, Secret } from '@bowline/kubernetes';
import type { Clock, Random } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { Cache } from '@bowline/runtime/cache';
import type { CertificateAuthority, TlsIdentity } from '@bowline/runtime/certificates';
import type { Client } from '@bowline/runtime/client';
import { AGENT_SELECTOR, type AgentPod, agentPodView } from '../agent-client/agent-directory.ts';
import type { IdentitySource } from '../agent-protocol/identity-source.ts';
import { HSMDevice } from '../api/hsm-device.ts';
import { agentServerName } from '../api/names.ts';
import { type PinSource, trimmedPin } from '../token/pin/pin-source.ts';
import { simulatedToken } from './simulated-token.ts';
import { initialContent, SIMULATION_SECRET, storedToken, tokenEntry } from './simulation-secret.ts';

/** SimulatedAgentsOptions configures the simulation of agents. */
export interface SimulatedAgentsOptions {
  readonly client: Client;
  readonly managerNamespace: string;
  readonly namespaces: readonly string[] | undefined;
  readonly authority: CertificateAuthority;
  /** Called when the address of the agent of an HSMDevice, `namespace/name`, has changed. */
  readonly onChange: (device: string) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * SimulatedAgents replaces the containers of agents: for each agent pod it runs the same server, with a software token in
 * place of PKCS#11, on a loopback port.
 */
export class SimulatedAgents {
  readonly #options: SimulatedAgentsOptions;
  readonly #addresses = new Map<string, string>();

  constructor(options: SimulatedAgentsOptions) {
    this.#options = options;
  }

  /** addressOf returns the address of the agent of a pod; undefined until it listens. */
  addressOf(podUID: string): string | undefined {
    return this.#addresses.get(podUID);
  }

  /** run serves the agents of all pods until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, namespaces, clock, random, log } = this.#options;
    const cache = new Cache({ client, clock, random, log });
    const pods = cache.informer(Pod, {
      ...(namespaces ? { namespaces } : {}),
      labelSelector: AGENT_SELECTOR,
      view: agentPodView,
    });
    const running = new Map<string, { readonly end: AbortController; readonly done: Promise<void> }>();
    using _ = pods.subscribe(({ previous, current }) => {
      const pod = current ?? previous;
      if (!pod) return;
      const isWanted = current?.isRunning ?? false;
      const known = running.get(pod.uid);
      if (known && !isWanted) {
        known.end.abort();
        running.delete(pod.uid);
      } else if (!known && isWanted) {
        const end = new AbortController();
        const done = this.#serve(pod, cache, AbortSignal.any([signal, end.signal])).catch((error: unknown) => {
          if (!end.signal.aborted && !signal.aborted)
            log.error('a simulated agent has failed', { pod: keyString(pod), error });
        });
        running.set(pod.uid, { end, done });
      }
    });
    await cache.run(signal);
    await Promise.all([...running.values()].map(({ done }) => done));
  }

  async #serve(pod: AgentPod, cache: Cache, signal: AbortSignal): Promise<void> {
    const { onChange, log, clock } = this.#options;
    const device = { namespace: pod.namespace, name: pod.device };
    const service = await this.#openToken(pod, cache, signal);
    // Loaded here, because only a simulation serves agents in the manager.
    const { serveAgent } = await import('../agent/serve-agent.ts');
    const identity = issuedIdentity(this.#options.authority, agentServerName(device));
    const server = await serveAgent({ service, identity, address: '127.0.0.1:0', clock, log, signal });
    this.#addresses.set(pod.uid, `127.0.0.1:${server.port}`);
    onChange(keyString(device));
    await server.stopped;
    this.#addresses.delete(pod.uid);
    onChange(keyString(device));
  }

  async #openToken({ namespace, device, serialNumber }: AgentPod, cache: Cache, signal: AbortSignal) {
    const { client, managerNamespace, clock } = this.#options;
    const key = { namespace: managerNamespace, name: SIMULATION_SECRET };
    const { spec } = await client.get(HSMDevice, { namespace, name: device }, { signal });
    const { name = '', key: pinKey = '' } = spec.pkcs11?.pinSecret ?? {};
    const pins = cache.informer(Secret, { namespaces: [namespace], fieldSelector: `metadata.name=${name}` });
    await pins.synced(signal);
    const secret = await client.find(Secret, key, { signal });
    return await simulatedToken({
      serialNumber,
      stored: storedToken(secret, serialNumber),
      content: initialContent(secret),
      pin: mountedPin(() => pins.get({ namespace, name }), pinKey),
      clock,
      save: async (snapshot) => {
        const [entry, value] = tokenEntry(serialNumber, snapshot);
        await client.patch(Secret, key, { type: 'merge', body: { data: { [entry]: value } } }, { signal });
      },
    });
  }
}

/** mountedPin returns the PINs as a mounted Secret shows them: kubelet updates its files. */
function mountedPin(secret: () => Secret | undefined, key: string): PinSource {
  const read = (name: string): Buffer | undefined => {
    const text = secret()?.data?.[name];
    return text ? trimmedPin(Buffer.from(text, 'base64')) : undefined;
  };
  return { current: () => read(key), next: () => read(`${key}.next`) };
}

/** issuedIdentity issues a certificate in memory, and again when the CA has changed. */
function issuedIdentity(authority: CertificateAuthority, name: string): IdentitySource {
  let current: TlsIdentity | undefined;
  const issue = async (): Promise<TlsIdentity> => {
    const { data, checkAt } = await authority.issue(undefined, { names: [name], usages: ['server'] });
    const text = (key: keyof typeof data): string => Buffer.from(data[key], 'base64').toString('utf8');
    const certificatePem = text('tls.crt');
    const fingerprint = hash('sha256', certificatePem, 'hex');
    const certificate = { certificatePem, keyPem: text('tls.key'), fingerprint, notAfter: checkAt };
    current = { certificate, bundlePem: text('ca.crt') };
    return current;
  };
  return {
    get current() {
      return current;
    },
    async ready(signal) {
      await authority.ready(signal);
      return await issue();
    },
    async *changes(signal) {
      for await (const _ of authority.changes(signal)) yield await issue();
    },
  };
}
