import { type Clock, type Random, systemClock, systemRandom, WakeSignal } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { Cache } from '@bowline/runtime/cache';
import type { Client } from '@bowline/runtime/client';
import { createMetrics, startOperationsServer } from '@bowline/runtime/manager';
import type { ChangeSenderOptions } from '../bidirectional/agent/change-sender.ts';
import type { SyncStep } from '../engine/sync/sync-request.ts';
import { GatewayClient } from '../gateway/gateway-client.ts';
import type { SyncMetadata } from '../protocol/metadata.ts';
import { FolderStore } from '../snapshots/folder-store.ts';
import { S3Store } from '../snapshots/s3-store.ts';
import { Snapshots } from '../snapshots/snapshots.ts';
import { Agent } from './agent.ts';
import { agentMetrics } from './agent-metrics.ts';
import { agentVersion } from './agent-version.ts';
import { AgentEvents } from './cluster/agent-events.ts';
import { watchMetadata } from './cluster/metadata-source.ts';
import { StatusReporter } from './cluster/status-reporter.ts';
import { DriftCheck } from './drift-check.ts';
import { AgentRepository } from './source/agent-repository.ts';
import { StartGate } from './start-gate.ts';
import { GatewaySync } from './sync/gateway-sync.ts';
import { SyncReport } from './sync-report.ts';
import type { Target } from './target.ts';
import { WatchedFiles } from './watched-files.ts';

/** AgentOptions are the flags of an agent. */
export interface AgentOptions {
  readonly cr: string;
  readonly podName: string;
  readonly podNamespace: string;
  readonly gatewayName: string;
  /** The repository whose origin the credentials are for. */
  readonly repo: string;
  readonly dataFolder: string;
  readonly repoFolder: string;
  readonly scratchFolder: string;
  readonly apiKeyFile: string;
  readonly gitTokenFile?: string | undefined;
  readonly gitSshKeyFile?: string | undefined;
  readonly knownHostsFile?: string | undefined;
  readonly caFile?: string | undefined;
  readonly s3CredentialsFolder?: string | undefined;
  readonly gatewayPort: number;
  readonly gatewayTls: boolean;
  /** Takes precedence over the port of the IgnitionSync. */
  readonly localGatewayPort?: number | undefined;
  /** In seconds. */
  readonly syncPeriod: number;
  readonly podInfoFolder?: string | undefined;
  readonly healthAddress: string;
  readonly metricsAddress: string;
}

/** AgentContext is what an agent runs with. */
export interface AgentContext {
  /** Has the permissions of the pod. */
  readonly client: Pick<Client, 'list' | 'watch' | 'get' | 'patch' | 'create'>;
  readonly log: Log;
  /** Stops the agent. */
  readonly signal: AbortSignal;
  /** The version of the program. Defaults to that of this package. */
  readonly version?: string | undefined;
  /** Defaults to the system's. */
  readonly clock?: Clock | undefined;
  /** For timeouts of requests. Defaults to the system's. */
  readonly wire?: Clock | undefined;
  /** Defaults to the system's. */
  readonly random?: Random | undefined;
  /** Called with the ports when the servers listen. Defaults to nothing. */
  readonly onListening?:
    | ((ports: { readonly health?: number | undefined; readonly metrics?: number | undefined }) => void)
    | undefined;
  /** Called before every step of a sync. Defaults to nothing. */
  readonly onStep?: ((step: SyncStep, path?: string) => void) | undefined;
  /** Returns the free bytes of the file system of a path. Defaults to what the system reports. */
  readonly freeBytes?: ((path: string) => Promise<number>) | undefined;
}

/** How long the last report and events may still be sent after a stop. */
const FLUSH_MS = 2_000;
const DEFAULT_RETENTION = 5;

/**
 * runAgent keeps the files of a gateway at the state that its IgnitionSync describes, until the signal is aborted. It resolves when
 * everything has stopped.
 */
export async function runAgent(options: AgentOptions, context: AgentContext): Promise<void> {
  const { client, signal, version = agentVersion() } = context;
  const { clock = systemClock, wire = systemClock, random = systemRandom } = context;
  const { cr, podName, podNamespace: namespace, gatewayName, dataFolder } = options;
  const log = context.log.with({ cr, namespace, gateway: gatewayName });
  const registry = createMetrics();
  const metrics = agentMetrics(registry);
  const ended = new AbortController();
  const cache = new Cache({ client, clock, random, log });
  const wake = new WakeSignal(clock);
  const metadata = watchMetadata(cache, { namespace, cr }, () => wake.wake());
  const reporter = new StatusReporter({ client, namespace, cr, clock, random, log });
  const events = new AgentEvents({ client, namespace, cr, podName, clock, random, log, metrics: registry });
  const repository = new AgentRepository({
    repo: options.repo,
    repoFolder: options.repoFolder,
    scratchFolder: options.scratchFolder,
    credentials: {
      tokenFile: options.gitTokenFile,
      sshKeyFile: options.gitSshKeyFile,
      knownHostsFile: options.knownHostsFile,
      caFile: options.caFile,
    },
    holder: podName,
    clock,
    log,
    observer: {
      fetched: (durationMs, bytes) => {
        metrics.fetchDuration.observe(durationMs / 1000);
        metrics.receivedBytes.add({}, bytes);
      },
    },
  });
  await using sync = new GatewaySync({
    ...{ dataFolder, podName, namespace, cr, repository, clock, wire, log, metrics },
    onDesigners: (sessions) => reporter.update({ sessionsBlocking: sessions === 0 ? undefined : sessions }),
    onStep: context.onStep,
    freeBytes: context.freeBytes,
  });
  const background: Promise<void>[] = [];
  const gate = new StartGate(clock, log, () =>
    background.push(untilEnded(agent.watchGateway(ended.signal), ended.signal)),
  );
  const identity = { podName, namespace, gatewayName };
  const watched = new WatchedFiles({
    ...{ dataFolder, sync, repository, reporter },
    onStart: () => background.push(sendChanges(watched, { client, namespace, cr, reporter, clock, log }, ended.signal)),
  });
  const agent = new Agent({
    ...{ identity, cr, dataFolder, metadata, reporter, events, metrics, sync, gate, wake, clock, wire, random, log },
    report: new SyncReport({ identity, cr, version, reporter, events, metrics, clock, log }),
    drift: new DriftCheck({ gatewayName, sync, reporter, events, metrics, clock, log }),
    watched,
    podInfoFolder: options.podInfoFolder,
    syncPeriodMs: options.syncPeriod * 1_000,
    gatewayFor: gateways(options, { clock, wire, log }),
    snapshotsFor: (target) => snapshotsOf(target, options, clock),
  });
  const server = await startOperationsServer({
    healthAddress: options.healthAddress,
    metricsAddress: options.metricsAddress,
    live: () => ({ checks: [] }),
    ready: () => ({
      checks: [
        {
          name: 'first-sync',
          ok: gate.isOpen && !signal.aborted,
          message: signal.aborted ? 'the agent stops' : gate.reason,
        },
      ],
    }),
    started: () => ({ checks: [{ name: 'first-sync', ok: gate.isOpen, message: gate.reason }] }),
    metrics: registry,
    log,
    signal: ended.signal,
  });
  context.onListening?.({ health: server.healthPort, metrics: server.metricsPort });
  background.push(cache.run(ended.signal), reporter.run(ended.signal), events.run(ended.signal), server.stopped);
  try {
    await Promise.race([agent.run(signal), failureOf(background)]);
    await flush(reporter, wire);
  } finally {
    ended.abort();
    await Promise.allSettled(background);
  }
}

/** The client of the gateway; the ConfigMap takes precedence over the flags, which are as old as the pod. */
function gateways(
  { apiKeyFile, gatewayPort, gatewayTls, localGatewayPort }: AgentOptions,
  rest: { readonly clock: Clock; readonly wire: Clock; readonly log: Log },
): (metadata: SyncMetadata | undefined) => GatewayClient {
  let known: { readonly key: string; readonly client: GatewayClient } | undefined;
  return (metadata) => {
    const port = localGatewayPort ?? metadata?.gatewayPort ?? gatewayPort;
    const tls = metadata?.gatewayTLS ?? gatewayTls;
    const key = `${port} ${tls}`;
    if (known?.key !== key) known = { key, client: new GatewayClient({ port, tls, apiKeyFile, ...rest }) };
    return known.client;
  };
}

function snapshotsOf({ metadata, plan }: Target, options: AgentOptions, clock: Clock): Snapshots {
  const { dataFolder, podNamespace, cr, s3CredentialsFolder: credentialsFolder } = options;
  const { snapshots } = metadata.settings;
  const { s3 } = snapshots?.storage ?? {};
  const store =
    snapshots?.storage.type === 's3' && s3 !== undefined
      ? new S3Store({
          ...{ bucket: s3.bucket, endpoint: s3.endpoint, region: s3.region, credentialsFolder, clock },
          prefix: [s3.keyPrefix, podNamespace, cr, plan.key].filter(Boolean).join('/'),
        })
      : new FolderStore(Snapshots.folderOf(dataFolder));
  return new Snapshots({
    ...{ dataFolder, gateway: plan.key, store, clock },
    retentionCount: snapshots?.retentionCount ?? DEFAULT_RETENTION,
  });
}

/** Loaded here, because most gateways send no changes. */
async function sendChanges(
  watched: WatchedFiles,
  {
    reporter,
    ...rest
  }: Omit<ChangeSenderOptions, 'client'> & Pick<AgentContext, 'client'> & { readonly reporter: StatusReporter },
  signal: AbortSignal,
): Promise<void> {
  const [{ ChangeSender }, { ChangeWatcher }] = await Promise.all([
    import('../bidirectional/agent/change-sender.ts'),
    import('../bidirectional/agent/change-watcher.ts'),
  ]);
  const { clock, log } = rest;
  const watcher = new ChangeWatcher({
    current: () => watched.current(),
    sender: new ChangeSender(rest),
    // The gateway stays synced: only its own changes are not sent.
    onProblem: (problem) =>
      reporter.update({ errorReason: problem?.reason, errorMessage: problem?.message.slice(0, 512) }),
    clock,
    log,
  });
  await watcher.run(signal);
}

async function flush(reporter: StatusReporter, wire: Clock): Promise<void> {
  const late = new AbortController();
  using _timer = wire.setTimer(FLUSH_MS, () => late.abort());
  await reporter.flush(late.signal);
}

/** What runs beside the agent ends with it; before, only a defect ends it. */
async function failureOf(background: readonly Promise<void>[]): Promise<never> {
  await Promise.all(background);
  return await new Promise<never>(() => undefined);
}

async function untilEnded(work: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
