import {
  type Cluster,
  type ClusterOptions,
  cluster,
  type OperatorsOptions,
  type RunningOperators,
} from '@bowline/control-plane/testing';
import { ConfigMap, type ObjectKey, Pod, Secret } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { VirtualClock } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import { createMetrics } from '@bowline/runtime/manager';
import { expect } from 'vitest';
import type { ServedRepository } from '../../../../test/support/git/git-repositories.ts';
import { type GitServer, type GitServerOptions, startGitServer } from '../../../../test/support/git/git-server.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { AGENT_CONTAINER, INJECTION_ANNOTATIONS, objectNames, POD_ANNOTATIONS } from '../api/names.ts';
import type { Spec } from '../api/specs.test-support.ts';
import { ignitionSync } from '../operator.ts';
import { desiredHash } from '../protocol/desired-hash.ts';
import { encodeReport, type GatewayReport } from '../protocol/gateway-report.ts';
import { decodeMetadata, type SyncMetadata } from '../protocol/metadata.ts';

/** SpecChanges are fields of a spec; those of git are added to the served repository. */
export type SpecChanges = Omit<Partial<Spec>, 'git'> & { readonly git?: Partial<Spec['git']> };

/**
 * ControllerScenario is a test cluster with the operator as it is installed, under its own ServiceAccount, and a Git server. The
 * operator's clock stands still unless a test advances it.
 */
export interface ControllerScenario extends Cluster, RunningOperators {
  readonly clock: VirtualClock;
  readonly git: GitServer;
  readonly repository: ServedRepository;
  /** The address of the repository. */
  readonly repo: string;
  key(name: string): ObjectKey & { readonly namespace: string };
  /** secret creates a Secret. */
  secret(name: string, data: Readonly<Record<string, string>>): Promise<void>;
  /** sync creates an IgnitionSync of the served repository, at main. */
  sync(name: string, changes?: SpecChanges): Promise<IgnitionSync>;
  change(name: string, spec: object): Promise<IgnitionSync>;
  /** annotate sets annotations of an IgnitionSync; null removes one. */
  annotate(name: string, annotations: Readonly<Record<string, string | null>>): Promise<IgnitionSync>;
  /** untilCondition waits for a condition about the current generation. */
  untilCondition(
    name: string,
    type: string,
    expected: { readonly status?: string; readonly reason?: string; readonly message?: string | RegExp },
  ): Promise<IgnitionSync>;
  untilEvent(name: string, reason: string): Promise<Event>;
  /**
   * gateway creates a Pod with an agent, as the injection webhook would, and waits until it runs, or exists if it is on a node
   * that does not.
   */
  gateway(
    name: string,
    cr: string,
    annotations?: Readonly<Record<string, string>>,
    spec?: Partial<NonNullable<Pod['spec']>>,
  ): Promise<Pod>;
  /** metadata reads what agents of an IgnitionSync read. */
  metadata(name: string): Promise<SyncMetadata>;
  /** report writes the report of an agent that has done what it is told to. */
  report(cr: string, pod: string, report?: Partial<GatewayReport>): Promise<void>;
  /** lsRemotes returns the number of requests for refs that the Git server has received. */
  lsRemotes(): number;
}

/** ControllerScenarioOptions configures the operator and its Git server. */
export interface ControllerScenarioOptions extends Partial<OperatorsOptions & ClusterOptions> {
  readonly gitServer?: GitServerOptions | undefined;
  /** The path of the repository on the server. Defaults to plant.git. */
  readonly repositoryPath?: string | undefined;
  /** Whether git operations never end on purpose: then the time does not wait for them. Defaults to false. */
  readonly isGitSlow?: boolean | undefined;
}

/** startControllerScenario starts the operator and a Git server with one commit in main. */
export async function startControllerScenario(options: ControllerScenarioOptions = {}): Promise<ControllerScenario> {
  const { gitServer, repositoryPath = 'plant.git', isGitSlow = false, metrics = createMetrics(), ...others } = options;
  const clock = new VirtualClock();
  // Real processes must end before the time passes in which they have to.
  const isIdle = async (): Promise<boolean> =>
    isGitSlow || !/^ignition_sync_git_pending [1-9]/m.test(await metrics.render());
  const git = await startGitServer({ plain: true, ...gitServer });
  const repository = await git.repositories.create(repositoryPath);
  await repository.commit({ 'services/site/projects/overview/project.json': '{}' });
  const { config: settings, ...rest } = others;
  const config = (of: Cluster) => {
    const given = typeof settings === 'function' ? settings(of) : settings;
    // Tests run at the same time, and a port can be used once.
    return {
      ...given,
      'ignition-sync': { webhookReceiverPort: 0, ...(given?.['ignition-sync'] as object | undefined) },
    };
  };
  const c = await cluster({ operators: [ignitionSync], prefix: 'ignition', clock, metrics, isIdle, ...rest, config });
  c.onDispose(async () => await git[Symbol.asyncDispose]());
  const { admin, namespace } = c;
  const key = (name: string) => ({ namespace, name });
  const secret = async (name: string, data: Readonly<Record<string, string>>): Promise<void> => {
    const encoded = Object.entries(data).map(([field, value]) => [field, Buffer.from(value).toString('base64')]);
    await admin.create(Secret, { metadata: key(name), data: Object.fromEntries(encoded) });
  };
  await secret('api-key', { key: 'agent:secret' });
  const repo = `${git.url}/${repositoryPath}`;
  const metadata = async (name: string): Promise<SyncMetadata> => {
    const { data } = await admin.get(ConfigMap, key(objectNames(name).metadata));
    return decodeMetadata(data);
  };
  const own: Omit<ControllerScenario, keyof (Cluster & RunningOperators)> = {
    clock,
    git,
    repository,
    repo,
    key,
    secret,
    metadata,
    sync: (name, { git: gitChanges, ...changes } = {}) =>
      admin.create(
        IgnitionSync,
        IgnitionSync.withDefaults({
          metadata: key(name),
          spec: {
            git: { repo, ref: 'main', ...gitChanges },
            gateway: { apiKeySecretRef: { name: 'api-key', key: 'key' } },
            ...changes,
          },
        }),
      ),
    change: (name, spec) => admin.patch(IgnitionSync, key(name), { type: 'merge', body: { spec } }),
    annotate: (name, annotations) =>
      admin.patch(IgnitionSync, key(name), { type: 'merge', body: { metadata: { annotations } } }),
    untilCondition: (name, type, { status, reason, message }) =>
      c.until(IgnitionSync, key(name), (sync) => {
        const found = findCondition(sync, type);
        return (
          found !== undefined &&
          found.observedGeneration === sync.metadata?.generation &&
          (status === undefined || found.status === status) &&
          (reason === undefined || found.reason === reason) &&
          (message === undefined || new RegExp(message).test(found.message))
        );
      }),
    untilEvent: async (name, reason) => {
      const isExpected = ({ regarding, reason: actual }: Event) => regarding?.name === name && actual === reason;
      const found = (await c.untilList(Event, { namespace }, (events) => events.some(isExpected))).find(isExpected);
      if (!found) throw new TypeError('the event was deleted');
      return found;
    },
    gateway: async (name, cr, annotations = {}, spec = {}) => {
      await admin.create(Pod, {
        metadata: {
          ...key(name),
          annotations: {
            [POD_ANNOTATIONS.inject]: 'true',
            [POD_ANNOTATIONS.crName]: cr,
            [INJECTION_ANNOTATIONS.injected]: 'true',
            ...annotations,
          },
        },
        spec: {
          initContainers: [{ name: AGENT_CONTAINER, image: 'agent', restartPolicy: 'Always' }],
          containers: [{ name: 'gateway', image: 'ignition' }],
          terminationGracePeriodSeconds: 0,
          ...spec,
        },
      });
      const { nodeName } = spec;
      return await c.until(Pod, key(name), ({ status }) => nodeName !== undefined || status?.phase === 'Running');
    },
    report: async (cr, pod, report = {}) => {
      const told = await metadata(cr);
      const plan = told.plan[pod];
      const appliedHash = desiredHash(told, pod);
      const value = encodeReport({
        syncStatus: 'Synced',
        syncedCommit: plan?.commit,
        syncedRef: plan?.ref,
        appliedHash,
        lastSyncTime: '2026-01-01T00:00:00Z',
        ...report,
      });
      const body = { data: { [plan?.key ?? pod]: value } };
      await admin.patch(ConfigMap, key(objectNames(cr).status), { type: 'merge', body });
    },
    lsRemotes: () => git.requests.filter(({ url }) => url.includes('/info/refs')).length,
  };
  return Object.defineProperties({ ...c, ...own }, Object.getOwnPropertyDescriptors(c));
}

/** untilEqual waits until a value that no watch reports is as expected. */
export async function untilEqual<T>(read: () => T, expected: T): Promise<void> {
  await expect.poll(read).toEqual(expected);
}
