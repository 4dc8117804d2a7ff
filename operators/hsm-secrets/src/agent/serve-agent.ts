import { BowlineError, type Clock, systemClock, untilAborted } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { silentLog } from '@bowline/runtime/manager';
import type { Server, ServerOptions } from '@grpc/grpc-js';
import { loadContract, loadGrpc, MAX_MESSAGE_BYTES } from '../agent-protocol/contract.ts';
import type { IdentitySource } from '../agent-protocol/identity-source.ts';
import type { TokenService } from '../token/token-service.ts';
import { agentHandlers } from './agent-handlers.ts';
import { CallRunner } from './call-runner.ts';
import { serverCredentials } from './server-credentials.ts';

/** AgentServerOptions configures the server of an agent. */
export interface AgentServerOptions {
  readonly service: TokenService;
  /** The certificate of the agent and the CAs of its clients. */
  readonly identity: IdentitySource;
  /** Where to listen: `host:port`, or `:port` for every interface. Port 0 is any free port. */
  readonly address: string;
  /** How many calls may run or wait. Defaults to 64. */
  readonly maxCalls?: number | undefined;
  /** The longest duration of a call, including its wait. Defaults to 30 s. */
  readonly callTimeoutMs?: number | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
  /** Stops the server. */
  readonly signal: AbortSignal;
}

/** AgentServer is the handle of a running server. */
export interface AgentServer {
  readonly port: number;
  /** Resolves once the signal was aborted and every connection is closed. */
  readonly stopped: Promise<void>;
}

/** How long calls may take to end when the server stops. */
const DRAIN_MS = 5_000;

const SERVER_OPTIONS: ServerOptions = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_concurrent_streams': 256,
  // A connection outlives the certificate that it was opened with: clients have to present the current one every hour.
  'grpc.max_connection_age_ms': 3_600_000,
  'grpc.max_connection_age_grace_ms': 60_000,
  'grpc.keepalive_time_ms': 60_000,
  'grpc.keepalive_timeout_ms': 20_000,
  'grpc.enable_channelz': 0,
};

/**
 * serveAgent serves a token to the manager with mutual TLS. It resolves when it listens. A new identity is used for new
 * connections; calls in progress are not affected.
 */
export async function serveAgent(options: AgentServerOptions): Promise<AgentServer> {
  const { service, identity, address, clock = systemClock, log = silentLog, signal } = options;
  const [grpc, contract, first] = await Promise.all([loadGrpc(), loadContract(), identity.ready(signal)]);
  const { credentials, replace } = serverCredentials(grpc, first);
  const server = new grpc.Server(SERVER_OPTIONS);
  const { maxCalls, callTimeoutMs } = options;
  const runner = new CallRunner({ grpc, clock, log, maxCalls, callTimeoutMs });
  const handlers = Object.entries(agentHandlers(service));
  server.addService(
    contract,
    Object.fromEntries(handlers.map(([method, handler]) => [method, runner.handle(method, handler as never)])),
  );
  const port = await bind(server, address, credentials).catch((error: unknown) => {
    server.forceShutdown();
    throw error;
  });
  const replaced = (async () => {
    for await (const changed of identity.changes(signal)) replace(changed);
  })();
  return { port, stopped: Promise.all([replaced, stop(server, clock, signal)]).then(() => undefined) };
}

type Credentials = Parameters<Server['bindAsync']>[1];

/** Without a host, the server accepts IPv4 and IPv6, or IPv4 alone on a machine without IPv6. */
async function bind(server: Server, address: string, credentials: Credentials): Promise<number> {
  if (!address.startsWith(':')) return await bindOne(server, address, credentials);
  return await bindOne(server, `[::]${address}`, credentials).catch(() =>
    bindOne(server, `0.0.0.0${address}`, credentials),
  );
}

function bindOne(server: Server, address: string, credentials: Credentials): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (!error) resolve(port);
      else reject(new BowlineError('BOWLINE_ADDRESS_UNAVAILABLE', `cannot listen on ${address}: ${error.message}`));
    });
  });
}

async function stop(server: Server, clock: Clock, signal: AbortSignal): Promise<void> {
  await untilAborted(signal);
  using _limit = clock.setTimer(DRAIN_MS, () => server.forceShutdown());
  await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
}
