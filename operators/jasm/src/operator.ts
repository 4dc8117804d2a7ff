import { Secret } from '@bowline/kubernetes';
import { parseDuration } from '@bowline/machinery';
import {
  allow,
  defineOperator,
  type Operator,
  OWN_NAMESPACE,
  type Permission,
  type SetupContext,
} from '@bowline/runtime';
import { NAMESPACE_ANNOTATIONS, OPERATOR } from './api/names.ts';
import { config } from './config.ts';
import { JasmMetrics } from './metrics.ts';
import { mockCommands } from './mock-commands/mock-commands.ts';
import { annotationReader } from './pods/read-annotation.ts';
import { checkRules } from './policy/check-rules.ts';
import type { Policy } from './policy/permit.ts';
import { awsSecretsManager } from './providers/aws-secretsmanager/kind.ts';
import { MOCK_SECRET } from './providers/mock/mock-values.ts';
import { type ConfiguredKind, type ProviderConfig, providerKinds } from './providers/provider-kinds.ts';
import { local, samples } from './samples.ts';
import { checkAnnotation } from './secretsync/annotations.ts';
import { podController, secretController } from './secretsync/controller.ts';
import type { Config, Deps } from './secretsync/deps.ts';
import { SyncMemory } from './secretsync/memory.ts';
import { orderedClock } from './secretsync/ordered-clock.ts';
import { ProviderConcurrency } from './secretsync/provider-concurrency.ts';
import { reconcile } from './secretsync/reconcile.ts';
import { RESTARTABLE } from './secretsync/restart.ts';
import { SourceReads } from './sources/source-reads.ts';

/** JasmOptions configures an operator with other providers. */
export interface JasmOptions {
  /** The providers that pods may name, given their sections of the configuration. Defaults to the built-in ones. */
  readonly providers?: ((config: ProviderConfig) => ReadonlyMap<string, ConfiguredKind>) | undefined;
  /** Where providers look for credentials. Defaults to the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** jasmWith returns the operator with custom providers. */
export function jasmWith(options: JasmOptions = {}): Operator {
  return defineOperator({
    ...OPERATOR,
    config,
    setup: (context: SetupContext<Config>): Deps => setUp(context, options),
    controllers: [secretController.reconcile(reconcile), podController.reconcile(checkAnnotation)],
    permissions: permissionsFor,
    commands: mockCommands,
    samples,
    local,
  });
}

/** jasm is the operator: it syncs the secrets that pods request by an annotation into Secrets. */
export const jasm = jasmWith();

/** Settings that the owner of a namespace may rely on, but that have no effect there. */
const UNREADABLE_NAMESPACES = `an operator restricted to some namespaces cannot read their annotations: ${NAMESPACE_ANNOTATIONS.permittedPaths} and ${NAMESPACE_ANNOTATIONS.restart} have no effect; use the policy and the annotations of pods, or set permittedPathsRequired to deny all requests`;

function setUp(context: SetupContext<Config>, options: JasmOptions): Deps {
  const { config, client, namespace, namespaces, clock, random, log, signal } = context;
  const { providers = providerKinds, env = process.env } = options;
  const { allowedRoles: roles, allowedRegions: regions } = config.aws;
  const policy: Policy = { ...config, allowed: new Map([[awsSecretsManager.name, { roles, regions }]]) };
  const kinds = providers(config);
  checkRules(policy, [...kinds.keys()]);
  // If the annotation is required, every pod gets an event about it.
  if (namespaces && !policy.permittedPathsRequired) log.warn(UNREADABLE_NAMESPACES, { namespaces });
  const instantClock = orderedClock(clock);
  const metrics = new JasmMetrics({
    metrics: context.metrics,
    clock,
    providers: [...kinds.keys()],
    perObject: config.perObjectMetrics,
    signal,
  });
  return {
    config,
    settings: {
      deletionGraceMs: parseDuration(config.deletionGrace),
      resyncMs: parseDuration(config.resyncPeriod),
      restartIntervalMs: parseDuration(config.restartInterval),
      permanentErrorRequeueMs: parseDuration(config.permanentErrorRequeue),
    },
    policy,
    kinds,
    parseAnnotation: annotationReader(kinds),
    sources: new SourceReads({
      kinds,
      metrics,
      context: { client, namespace, clock: instantClock, random, log, env, signal },
    }),
    instantClock,
    providerConcurrency: new ProviderConcurrency(clock),
    memory: new SyncMemory(),
    metrics,
  };
}

/** The permissions to read and write Secrets come from the controller's declaration. */
function permissionsFor({ allowDeletion, allowRestart, mock }: Config): readonly Permission[] {
  return [
    ...(allowDeletion ? [allow(['delete'], Secret)] : []),
    ...(allowRestart ? Object.values(RESTARTABLE).map((kind) => allow(['get', 'patch'], kind)) : []),
    ...(mock.enabled ? [allow(['get'], Secret, { names: [MOCK_SECRET], namespaces: [OWN_NAMESPACE] })] : []),
  ];
}
