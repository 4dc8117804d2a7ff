import { parseDuration, systemClock } from '@bowline/machinery';
import { BowlineError, type Operator } from '@bowline/runtime';
import { createLog, Manager, preferSmallHeap } from '@bowline/runtime/manager';
import { resolveSettings, type Settings, withConfigured } from '../config/settings.ts';
import { managerOptions } from '../manager/run-manager.ts';
import { webhookServing } from '../manager/webhook-serving.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { applyObjects } from './apply-objects.ts';
import { inManagerNamespace, statesToAwait } from './displayed-resources.ts';
import { installOperators, MANAGER_NAMESPACE } from './install-operators.ts';
import { startTrials } from './local-trials.ts';
import type { Terminal } from './screen.ts';
import { openUpCluster, type UpCluster, type UpTarget } from './up-cluster.ts';
import { type ListeningService, UpView } from './up-view.ts';
import { type ObjectState, WatchedObjects } from './watched-objects.ts';

/** UpOptions holds the options of `bowline up`. */
export interface UpOptions {
  readonly controlPlane: UpTarget;
  readonly port?: number | undefined;
  readonly dataDir?: string | undefined;
  readonly kubeconfig?: string | undefined;
  /** Defaults to true on a control plane of its own, and to false in the cluster of the current context. */
  readonly samples?: boolean | undefined;
  readonly exitWhenReady: boolean;
  readonly timeout: string;
  readonly json: boolean;
  readonly yes: boolean;
}

/** How often the states of operators are read while they start. */
const STATE_POLL_MS = 20;

/** UpInput holds what `bowline up` works with. */
export interface UpInput {
  readonly operators: readonly Operator[];
  readonly options: UpOptions;
  readonly io: Io;
  /** The terminal of the live view; undefined without a terminal: then changes are printed as lines. */
  readonly terminal: Terminal | undefined;
}

/**
 * runUp runs operators, with samples, until the process is stopped, or until everything is ready if that was requested.
 */
export async function runUp({ operators: declared, options, io, terminal }: UpInput): Promise<void> {
  // The same as in `bowline run`: this is the memory that operators need in a cluster.
  preferSmallHeap();
  const startedAt = systemClock.monotonic();
  const timeoutMs = parseDuration(options.timeout);
  using interruption = listenForInterrupt();
  const view = new UpView({ io, terminal, json: options.json });
  const { controlPlane: target } = options;
  view.progress(
    target === 'current-context' ? 'using the cluster of the current context' : `starting the ${target} control plane`,
  );
  const clusterOptions = { ...options, target, warnings: warningsOf(declared), signal: interruption.signal };
  await using cluster = await openUpCluster(clusterOptions, io);
  const log = createLog({ level: 'warn', format: 'text', destination: { write: (line) => view.note(line) } });
  const hasSamples = options.samples ?? cluster.isOwn;
  await using trials = await startTrials(declared, { cluster, hasSamples, log, signal: interruption.signal });
  const warnings = warningsOf(trials.operators);
  const settings = await withConfigured(localSettings(trials.operators));
  const { operators } = settings;
  view.progress(`installing ${operators.map(({ name }) => name).join(', ')}`);
  await installOperators({
    cluster,
    settings,
    signal: interruption.signal,
    report: (line) => view.progress(line),
  });

  const stopController = new AbortController();
  const signal = AbortSignal.any([interruption.signal, stopController.signal]);
  const watched = new WatchedObjects(cluster.admin, operators, () => view.changed(watched));
  const watching = watched.run(signal);
  const manager = new Manager({ ...upManagerOptions(settings, cluster), log });
  const running = manager.run(signal);
  const failed = Promise.race([running.then(() => new Promise<never>(() => {})), cluster.crashed, trials.failed]);
  try {
    const operatorsWithSamples = hasSamples ? operators.filter(({ samples }) => samples.length > 0) : [];
    const samples = operatorsWithSamples.flatMap((operator) => operator.samples.map(inManagerNamespace));
    if (samples.length > 0) {
      await Promise.race([untilMutating(manager, operatorsWithSamples, signal), failed]);
      view.progress('creating the samples');
    }
    await Promise.race([applyObjects(cluster.admin, samples, signal), failed]);
    const wanted = operatorsWithSamples.flatMap(statesToAwait);
    const isReady = await Promise.race([
      watched.until((states) => unready(states, wanted).length === 0, signal),
      ...(options.exitWhenReady ? [systemClock.sleep(timeoutMs, signal).then(() => false)] : []),
      failed,
    ]);
    const readyMs = Math.round(systemClock.monotonic() - startedAt);
    const { leftOut } = trials;
    const services = listeningServices(manager);
    const keepsData = options.dataDir !== undefined;
    view.ready({ cluster, operators, warnings, leftOut, services, watched, readyMs, isReady, keepsData });
    if (!isReady) throw notReady(options, unready(watched.states(), wanted));
    if (!options.exitWhenReady) await Promise.race([interruption.interrupted, failed]);
  } catch (error) {
    // A user who stops it wants it to end, whatever it was doing.
    if (!interruption.signal.aborted) throw error;
  } finally {
    view.end();
    stopController.abort();
    await Promise.allSettled([running, watching]);
  }
}

function upManagerOptions({ manager, operators, sections }: Settings, cluster: UpCluster) {
  const { isOwn, clientFor, connection } = cluster;
  const common = { operators, config: sections, clientFor };
  // Another process may use these ports; nothing scrapes or probes this one.
  const quiet = { healthAddress: '0', metricsAddress: '0' };
  if (!isOwn) return { ...managerOptions(manager, connection), ...common, ...quiet };
  const webhook = { ...manager.webhook, address: '127.0.0.1:0' };
  const place = { namespace: MANAGER_NAMESPACE, isServerLocal: true };
  return {
    ...common,
    ...quiet,
    namespace: MANAGER_NAMESPACE,
    // No other process runs these operators here, and users should not wait for the Lease of a killed process.
    leaderElection: false as const,
    webhooksFor: (operator: Operator) => webhookServing({ ...manager, webhook }, place, operator),
  };
}

/**
 * untilMutating waits until the API server calls the mutating webhooks of operators, or they have given up waiting for that: an
 * object that is created before would never be changed by them.
 */
async function untilMutating(manager: Manager, operators: readonly Operator[], signal: AbortSignal): Promise<void> {
  const names = new Set(
    operators.filter(({ webhooks }) => webhooks.some(({ type }) => type === 'mutating')).map(({ name }) => name),
  );
  const isStarting = (): boolean => {
    // An operator leads after its webhooks are announced; if another process leads, they already are.
    const started = manager.status().filter(({ name, state, holder }) => {
      return names.has(name) && state !== 'setting-up' && (state !== 'standby' || holder !== undefined);
    });
    return started.length < names.size;
  };
  while (isStarting()) await systemClock.sleep(STATE_POLL_MS, signal);
}

/** localSettings returns the settings that operators declare for local use. */
function localSettings(operators: readonly Operator[]): Settings {
  const sections = operators.flatMap(({ name, local }) => (local.config ? [[name, local.config] as const] : []));
  const file = { path: 'the operators', value: Object.fromEntries(sections), lineOf: () => undefined };
  return resolveSettings({ file, operators, known: operators.map(({ name }) => name) });
}

function warningsOf(operators: readonly Operator[]): readonly string[] {
  return operators.flatMap(({ name, local }) => (local.warning === undefined ? [] : [`${name}: ${local.warning}`]));
}

function listeningServices(manager: Manager): readonly ListeningService[] {
  return manager
    .status()
    .flatMap(({ name: operator, services }) =>
      services.flatMap(({ name, port }) => (port === undefined ? [] : [{ operator, name, port }])),
    );
}

function unready(states: readonly ObjectState[], wanted: readonly string[]): readonly string[] {
  return wanted.flatMap((name) => {
    const state = states.find(({ kind, key }) => `${kind} ${key}` === name);
    return state?.isReady ? [] : [`${name}: ${state?.message ?? 'not created yet'}`];
  });
}

function notReady({ timeout }: UpOptions, problems: readonly string[]): BowlineError {
  return new BowlineError(
    'BOWLINE_UP_NOT_READY',
    `not everything was ready within ${timeout} (${problems.join('; ')}): set a longer --timeout, or omit --exit-when-ready to inspect the objects`,
  );
}
