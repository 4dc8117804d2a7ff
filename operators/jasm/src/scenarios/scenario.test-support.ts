import { sharedControlPlane } from '@bowline/control-plane/testing';
import { expect } from 'vitest';
import { useEnvironment } from '../testing/fake-aws.test-support.ts';
import { type JasmCluster, type JasmClusterOptions, jasmCluster } from '../testing/jasm-cluster.test-support.ts';
import { backendFor } from './aws-backend.test-support.ts';
import { openStore, type ScenarioStore } from './scenario-store.test-support.ts';

/**
 * Scenario is a corner with the operator in it, as it is installed: under its own account and with its own providers, of which
 * `aws-secretsmanager` reads from a store of the scenario. Time stands still unless a test moves it: what happens without that is
 * caused by events alone. The tests of a file share one, and take names of their own.
 */
export interface Scenario extends Omit<JasmCluster, 'store' | 'calls'> {
  /** Secrets Manager. */
  readonly aws: ScenarioStore;
  /** The calls to it so far, failed ones too, for instance `GetSecretValue /team/db`. */
  readonly calls: readonly string[];
  /** callsFor are the operations that were called for the secret of that name. */
  callsFor(name: string): readonly string[];
  /** path is the path of a secret that no other scenario has. */
  path(name: string): string;
  /** fromAws is what a pod asks: the secret of that name, in the Secret of that name unless told otherwise. */
  fromAws(name: string, more?: object): Readonly<Record<string, unknown>>;
  /** caughtUp makes one more pod and waits until it is served and told: what happened before it was seen, and told, by then. */
  caughtUp(): Promise<void>;
}

/** startScenario starts the operator. Its configuration names the store, and besides says what the options say. */
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
      isAsInstalled: true,
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
    untilCalled: (times) =>
      expect.poll(() => aws.calls.length, { timeout: 20_000, interval: 20 }).toBeGreaterThanOrEqual(times),
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
      await c.ask(name, fromAws(name));
      await c.untilEvent(name, 'SecretSyncSuccess');
      await c.idle();
    },
    // The operator goes first: without its store it would not end in peace.
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
