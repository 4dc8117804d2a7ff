import type { PeerCertificate } from 'node:tls';
import { createSecureContext } from 'node:tls';
import { BowlineError } from '@bowline/machinery';
import type { TlsIdentity } from '@bowline/runtime/certificates';
import type { Client, ClientOptions, ServiceError } from '@grpc/grpc-js';
import {
  type AgentContract,
  type AgentMethod,
  type AgentRequest,
  type AgentResponse,
  type Grpc,
  MAX_MESSAGE_BYTES,
} from '../agent-protocol/contract.ts';
import { isCertificateFor } from '../agent-protocol/is-certificate-for.ts';

/** AgentTarget is where an agent listens, and the name that its certificate must have. */
export interface AgentTarget {
  /** `host:port`. */
  readonly address: string;
  /** See `agentServerName`. */
  readonly serverName: string;
}

const CLIENT_OPTIONS: ClientOptions = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  // The default is less than the largest request, which could then not be sent again to another connection.
  'grpc.per_rpc_retry_buffer_size': MAX_MESSAGE_BYTES + 65_536,
  // A node that is gone does not close its connections.
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // The default of two minutes is longer than a restart of an agent takes.
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 5_000,
  // Agents are in the cluster: a proxy of the environment must not see the connection.
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_channelz': 0,
};

/** AgentConnection is a connection to an agent with one identity. It is opened by the first call. */
export class AgentConnection {
  readonly identity: TlsIdentity;
  readonly #client: Client;
  readonly #contract: AgentContract;
  #calls = 0;
  #isRetired = false;

  constructor(grpc: Grpc, contract: AgentContract, { address, serverName }: AgentTarget, identity: TlsIdentity) {
    const { certificate, bundlePem } = identity;
    const context = createSecureContext({
      cert: certificate.certificatePem,
      key: certificate.keyPem,
      ca: bundlePem,
      minVersion: 'TLSv1.3',
    });
    const checkServerIdentity = (_: string, peer: PeerCertificate) => checkName(peer, serverName);
    this.identity = identity;
    this.#contract = contract;
    this.#client = new grpc.Client(
      address,
      grpc.credentials.createFromSecureContext(context, { checkServerIdentity }),
      { ...CLIENT_OPTIONS, 'grpc.ssl_target_name_override': serverName, 'grpc.default_authority': serverName },
    );
  }

  /** The number of calls that have not ended. */
  get calls(): number {
    return this.#calls;
  }

  /** call sends a request. It rejects with the ServiceError of the library; aborting the signal cancels it. */
  call<M extends AgentMethod>(method: M, request: AgentRequest<M>, signal: AbortSignal): Promise<AgentResponse<M>> {
    const { path, requestSerialize, responseDeserialize } = this.#contract[method];
    this.#calls++;
    return new Promise<AgentResponse<M>>((resolve, reject) => {
      const ended = (error: ServiceError | null, response?: AgentResponse<M>): void => {
        signal.removeEventListener('abort', cancel);
        this.#calls--;
        if (this.#isRetired) this.retire();
        if (error) reject(error);
        // A call without an error has a response; the library does not express this.
        else resolve(response as AgentResponse<M>);
      };
      const call = this.#client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, ended);
      const cancel = (): void => call.cancel();
      signal.addEventListener('abort', cancel, { once: true });
      if (signal.aborted) cancel();
    });
  }

  /** retire closes the connection when its calls have ended. There must be no further calls. */
  retire(): void {
    this.#isRetired = true;
    if (this.#calls === 0) this.#client.close();
  }
}

function checkName({ raw }: PeerCertificate, serverName: string): Error | undefined {
  if (isCertificateFor(raw, serverName)) return undefined;
  return new BowlineError('BOWLINE_HSM_AGENT_NAME', `the certificate of the agent is not valid for ${serverName}`);
}
