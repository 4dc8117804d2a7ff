import { sharedControlPlane } from '@bowline/control-plane/testing';
import { expect } from 'vitest';
import { useEnvironment } from '../testing/fake-aws.test-support.ts';
import { type JasmCluster, type JasmClusterOptions, jasmCluster } from '../testing/jasm-cluster.test-support.ts';
import { backendFor } from './aws-backend.test-support.ts';
import { openStore, type ScenarioStore } from './scenario-store.test-support.ts';

/**
 * Scenario is a test cluster with the operator as it is installed: with its own ServiceAccount and its own providers,
 * of which `aws-secretsmanager` reads from a store of the scenario. Time stands still unless a test advances it:
 * without that, only events cause anything. The tests of a file share one scenario, and use names of their own.
 */
export interface Scenario extends Omit<JasmCluster, 'store' | 'calls'> {
  /** Secrets Manager. */
  readonly aws: ScenarioStore;
  /** The calls to it so far, including failed ones, for instance `GetSecretValue /team/db`. */
  readonly calls: readonly string[];
  /** callsFor returns the operations that were called for the secret of that name. */
  callsFor(name: string): readonly string[];
  /** path returns a path of a secret that no other scenario uses. */
  path(name: string): string;
  /** fromAws returns a request: the secret of that name, in the Secret of that name by default. */
  fromAws(name: string, more?: object): Readonly<Record<string, unknown>>;
  /**
   * caughtUp creates one more pod and waits until it is served and has its event: everything before it has been
   * observed and reported by then.
   */
  caughtUp(): Promise<void>;
}

/** startScenario starts the operator. Its configuration names the store, and includes that of the options. */
export async function startScenario(options: Omit<JasmClusterOptions, 'stores'> = {}): Promise<Scenario> {
  const { kind } = options.controlPlane ?? (await sharedControlPlane());
  const aws = await openStore(await backendFor(kind));
  const environment = useEnvironment({ AWS_PROFILE: undefined, AWS_SESSION_TOKEN: undefined, ...aws.environment });
  const close = async (): Promise<void> => {
    environment[Symbol.dispose]();
    await aws[Symbol.asyncDispose]();
  };
  const start = (): Promise<JasmCluster> =>
    jasmCluster({
      useBuiltInProviders: true,
      prefix: 'scenario',
      ...options,
      config: { allowAllPaths: true, ...options.config, aws: { endpoint: aws.url, ...sectionOf(options) } },
    });
  const c = await start().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const path = (name: string): string => `/${c.namespace}/${name}`;
  const fromAws: Scenario['fromAws'] = (name, more = {}) => {
    return { provider: 'aws-secretsmanager', path: path(name), secretName: name, ...more };
  };
  const own: Omit<Scenario, Exclude<keyof JasmCluster, 'calls' | 'untilCalled' | keyof AsyncDisposable>> = {
    aws,
    calls: aws.calls,
    untilCalled: (times) => expect.poll(() => aws.calls.length).toBeGreaterThanOrEqual(times),
    path,
    fromAws,
    callsFor: (name) =>
      aws.calls.flatMap((call) => {
        const [operation = '', ...paths] = call.split(' ');
        return paths.includes(path(name)) ? [operation] : [];
      }),
    caughtUp: async () => {
      const name = c.uniqueName('caught-up');
      await aws.put(path(name), { key: 'value' });
      await c.createPod(name, fromAws(name));
      await c.untilEvent(name, 'SecretSyncSuccess');
      await c.idle();
    },
    // The operator is stopped first: without its store it would not stop cleanly.
    [Symbol.asyncDispose]: async () => {
      await c[Symbol.asyncDispose]();
      await close();
    },
  };
  return Object.defineProperties(
    { ...c, ...own },
    { ...Object.getOwnPropertyDescriptors(c), ...Object.getOwnPropertyDescriptors(own) },
  );
}

function sectionOf({ config: { aws = {} } = {} }: Pick<JasmClusterOptions, 'config'>): object {
  return aws as object;
}
