import { ConfigMap, Secret } from '@bowline/kubernetes';
import {
  allow,
  defineOperator,
  type Operator,
  OWN_NAMESPACE,
  type Permission,
  type SetupContext,
} from '@bowline/runtime';
import { REVIEW_PERMISSIONS } from '@bowline/runtime/access';
import { agentCommand } from './agent/agent-command.ts';
import { IgnitionSync } from './api/ignition-sync.ts';
import { GLOBAL_PAUSE, OPERATOR } from './api/names.ts';
import { SyncProfile } from './api/sync-profile.ts';
import { authors } from './authorization/author-review.ts';
import { userCommands } from './commands/commands.ts';
import { type Config, config } from './config.ts';
import type { Deps } from './deps.ts';
import { cleanUp } from './ignitionsync/cleanup.ts';
import { reconcile } from './ignitionsync/reconcile.ts';
import { syncController } from './ignitionsync/sync-controller.ts';
import { local } from './local/local-use.ts';
import { GlobalPause } from './memory/global-pause.ts';
import { SyncMemory } from './memory/sync-memory.ts';
import { IgnitionSyncMetrics } from './metrics.ts';
import { receiverEnvironment } from './receiver/receiver-environment.ts';
import { receiverPermissions, receiverService } from './receiver/receiver-service.ts';
import { simulateGatewayCommand } from './simulated-gateway/simulate-gateway-command.ts';
import { GitSources } from './source/git-sources.ts';
import { profileController } from './syncprofile/profile-controller.ts';
import { inject } from './webhooks/inject.ts';
import { review } from './webhooks/review.ts';

/** IgnitionSyncOptions configures an operator with another environment. */
export interface IgnitionSyncOptions {
  /** Where the secrets of the receiver are looked for. Defaults to the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The folder holds a few commits of each repository without their files, and temporary files. */
const SCRATCH_FACTOR = 2;

const receiver = receiverService(authors);

/** ignitionSyncWith returns the operator with custom options. */
export function ignitionSyncWith(options: IgnitionSyncOptions = {}): Operator {
  return defineOperator({
    ...OPERATOR,
    resources: [IgnitionSync, SyncProfile],
    config,
    scratchFolder: { sizeLimit: ({ maxRepositoryMiB }) => `${maxRepositoryMiB * SCRATCH_FACTOR}Mi` },
    setup: (context: SetupContext<Config>): Promise<Deps> => setUp(context, options),
    controllers: [syncController.reconcile(reconcile).cleanup(cleanUp), profileController],
    webhooks: [review, inject],
    services: [
      { name: 'global-pause', run: (signal, { pause }, { client }) => pause.run(signal, client) },
      { ...receiver, run: (signal, deps, context) => receiver.run(signal, deps.receiver, context) },
    ],
    commands: [agentCommand, simulateGatewayCommand, ...userCommands],
    permissions: permissionsFor,
    local,
  });
}

/** ignitionSync is the operator: it syncs Git repositories to Ignition gateways. */
export const ignitionSync = ignitionSyncWith();

/** The permissions to read and write other objects come from the declarations of the controllers. */
function permissionsFor(config: Config): readonly Permission[] {
  return [
    ...REVIEW_PERMISSIONS,
    ...receiverPermissions(config),
    // No list and no watch: Secrets are read by the names in specs, whose authors were reviewed.
    allow(['get'], Secret),
    ...(config.githubApps ? [allow(['create', 'patch'], Secret)] : []),
    allow(['get', 'list', 'watch'], ConfigMap, { names: [GLOBAL_PAUSE.name], namespaces: [OWN_NAMESPACE] }),
  ];
}

async function setUp(context: SetupContext<Config>, { env = process.env }: IgnitionSyncOptions): Promise<Deps> {
  const { config, client, namespace, namespaces, image, clock, random, log, signal } = context;
  const metrics = new IgnitionSyncMetrics({
    metrics: context.metrics,
    clock,
    perObject: config.perObjectMetrics,
    signal,
  });
  const sources = await GitSources.open({
    config,
    client,
    workFolder: config.workFolder ?? context.scratchFolder(),
    clock,
    random,
    observe: (report) => metrics.observeOperation(report),
    received: (bytes) => metrics.receivedBytes(bytes),
  });
  metrics.observePending(() => sources.pending);
  const close = (): void => {
    sources[Symbol.asyncDispose]().catch((error: unknown) => log.warn('cannot remove the work folder', { error }));
  };
  signal.addEventListener('abort', close, { once: true });
  const authorReview = { ownNamespace: namespace, namespaces };
  return {
    config,
    metrics,
    random,
    sources,
    pause: new GlobalPause(namespace),
    memory: new SyncMemory(clock),
    agentImage: config.agentImage ?? image,
    receiver: {
      config,
      receiverEnvironment: receiverEnvironment(env),
      ...authorReview,
      ...{ clock, log, metrics: context.metrics },
    },
    ...authorReview,
  };
}
