import { EventEmitter, once } from 'node:events';
import { ConfigMap, keyString } from '@bowline/kubernetes';
import { type Clock, untilAborted } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { TokenAccess } from '@bowline/runtime/access';
import type { CertificateAuthority, IssuedLeaf } from '@bowline/runtime/certificates';
import type { Client } from '@bowline/runtime/client';
import type { ServiceContext } from '@bowline/runtime/manager';
import { createWriter, fieldManagerOf } from '@bowline/runtime/writing';
import type { Agents } from '../agent-client/agent-directory.ts';
import { LABELS, MANAGER, OPERATOR } from '../api/names.ts';
import { runTogether } from '../processes/run-together.ts';
import { type ApiTools, AUDIENCE } from './api-call.ts';
import { API_CONFIG_MAP, API_SERVER_NAME, API_SERVICE, type ApiLocation, isLoopback } from './api-location.ts';
import { ApiServer, type ServerCertificate } from './api-server.ts';

/** HttpApiOptions configures the API. */
export interface HttpApiOptions {
  readonly client: Client;
  readonly agents: Agents;
  readonly authority: CertificateAuthority;
  /** `host:port`, or `:port` for all addresses. Port 0 is any free port. */
  readonly address: string;
  /** The manager's namespace. */
  readonly namespace: string;
  /** The namespaces that the manager is limited to. Undefined: the whole cluster. */
  readonly namespaces: readonly string[] | undefined;
  /** The name of the ServiceAccount of the command line. */
  readonly accountName: string;
  /** See `ApiTools`. */
  readonly requestMirror: ApiTools['requestMirror'];
  readonly clock: Clock;
  readonly log: Log;
}

/** When a certificate cannot be renewed now, the old one is used until the next attempt. */
const RETRY_MS = 60_000;

/** HttpApi serves the REST API on every replica, and publishes on the leader where it is found. */
export class HttpApi {
  readonly #options: HttpApiOptions;
  readonly #events = new EventEmitter();
  readonly #access: TokenAccess;
  #issued: IssuedLeaf | undefined;
  #port: number | undefined;
  #isLeader = false;

  constructor(options: HttpApiOptions) {
    const { client, clock } = options;
    this.#options = options;
    this.#access = new TokenAccess({ client, audiences: [AUDIENCE], clock });
  }

  /** serve answers requests until the signal is aborted. A replica is ready when it does. */
  async serve(signal: AbortSignal, service: Pick<ServiceContext, 'listensOn' | 'readiness'>): Promise<void> {
    const { authority, address, namespaces, log } = this.#options;
    if (namespaces) {
      const reason = 'the manager is limited to namespaces, so it cannot check the tokens of callers';
      log.error('the API is not served; install the operator for the whole cluster, or set api.enabled to false', {
        reason,
      });
      return await untilAborted(signal);
    }
    let isServed = false;
    service.readiness(() => (isServed ? { ok: true } : { ok: false, message: 'the API is not served yet' }));
    await authority.ready(signal);
    const server = new ApiServer(this.#tools(), await this.#issue());
    const port = await server.listen(address);
    this.#port = port;
    this.#events.emit('listening');
    service.listensOn(port);
    isServed = true;
    log.info('serving the API', { address, port });
    await runTogether(signal, [(end) => server.run(end), (end) => this.#keepCertificate(server, end)]);
  }

  /** port resolves with the port once the API is served. It rejects when the signal is aborted. */
  async port(signal: AbortSignal): Promise<number> {
    while (this.#port === undefined) await once(this.#events, 'listening', { signal });
    return this.#port;
  }

  /** lead publishes where the API is found, and lets this replica write, until the signal is aborted. */
  async lead(signal: AbortSignal): Promise<void> {
    if (this.#options.namespaces) return await untilAborted(signal);
    this.#isLeader = true;
    try {
      const port = await this.port(signal).catch(() => undefined);
      if (port === undefined) return;
      for await (const { bundlePem } of this.#options.authority.changes(signal)) {
        await this.#publish({ ...this.#location(port), 'ca.crt': bundlePem }, signal);
      }
    } finally {
      this.#isLeader = false;
    }
  }

  #tools(): ApiTools {
    const { client, agents, requestMirror, clock, log } = this.#options;
    return { client, agents, access: this.#access, isLeader: () => this.#isLeader, requestMirror, clock, log };
  }

  /** Every replica has a certificate of its own, in memory only. */
  async #issue(): Promise<ServerCertificate> {
    const { authority, namespace } = this.#options;
    const names = [API_SERVER_NAME, `${API_SERVICE}.${namespace}.svc`];
    this.#issued = await authority.issue(this.#issued, { names, usages: ['server'] });
    const text = (key: 'tls.crt' | 'tls.key'): string =>
      Buffer.from(this.#issued?.data[key] ?? '', 'base64').toString('utf8');
    return { cert: text('tls.crt'), key: text('tls.key') };
  }

  async #keepCertificate(server: ApiServer, signal: AbortSignal): Promise<void> {
    const { authority, clock } = this.#options;
    const onChange = async (end: AbortSignal): Promise<void> => {
      for await (const _ of authority.changes(end)) await this.#renew(server);
    };
    const onTime = async (end: AbortSignal): Promise<void> => {
      while (!end.aborted) {
        const waitMs = Math.max(RETRY_MS, (this.#issued?.checkAt ?? 0) - clock.now());
        await clock.sleep(waitMs, end).catch(() => undefined);
        if (!end.aborted) await this.#renew(server);
      }
    };
    await runTogether(signal, [onChange, onTime]);
  }

  async #renew(server: ApiServer): Promise<void> {
    try {
      server.use(await this.#issue());
    } catch (error) {
      this.#options.log.warn('cannot renew the certificate of the API; the old one is used', { error });
    }
  }

  #location(port: number): Omit<ApiLocation, 'ca.crt'> {
    const { address, accountName, namespace } = this.#options;
    const url = isLoopback(address)
      ? `https://${address.slice(0, address.lastIndexOf(':'))}:${port}`
      : `https://${API_SERVICE}.${namespace}.svc:${port}`;
    return { url, serverName: API_SERVER_NAME, audience: AUDIENCE, service: API_SERVICE, serviceAccount: accountName };
  }

  async #publish(location: ApiLocation, signal: AbortSignal): Promise<void> {
    const { client, namespace, log } = this.#options;
    const labels = { [LABELS.managedBy]: MANAGER, [LABELS.name]: 'hsm-secrets-operator' };
    const writer = createWriter({
      client,
      fieldManager: fieldManagerOf(OPERATOR, 'api'),
      ownership: { labels },
      ...{ log, signal },
    });
    const key = { namespace, name: API_CONFIG_MAP };
    const { outcome } = await writer.apply(ConfigMap, { metadata: key, data: { ...location } });
    log.debug('published where the API is found', { configMap: keyString(key), outcome });
  }
}
