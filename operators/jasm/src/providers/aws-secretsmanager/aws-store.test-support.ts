import { VirtualClock } from '@bowline/machinery';
import { configOf } from '../../testing/config-of.test-support.ts';
import { FakeAws, useEnvironment } from '../../testing/fake-aws.test-support.ts';
import type { SecretRef } from '../provider.ts';
import type { AwsContext } from './aws-clients.ts';
import { AwsSecretsManager } from './aws-secretsmanager.ts';
import { config } from './config.ts';

/** AwsStore is a fake AWS with providers that read from it. */
export class AwsStore implements AsyncDisposable {
  readonly fake: FakeAws;
  readonly clock = new VirtualClock();
  readonly observed: string[] = [];
  readonly #stop = new AbortController();
  readonly #environment: Disposable;

  private constructor(fake: FakeAws, variables: Readonly<Record<string, string | undefined>>) {
    this.fake = fake;
    this.#environment = useEnvironment({ AWS_PROFILE: undefined, ...fake.environment, ...variables });
  }

  /** start sets up a process environment, with some variables added or removed. */
  static async start(variables: Readonly<Record<string, string | undefined>> = {}): Promise<AwsStore> {
    return new AwsStore(await FakeAws.start(), variables);
  }

  /** provider returns a provider with a section of the configuration. */
  provider(section: object = {}): AwsSecretsManager {
    return new AwsSecretsManager(this.context(section));
  }

  context(section: object = {}): AwsContext {
    return {
      config: configOf(config, section),
      env: process.env,
      clock: this.clock,
      observe: ({ operation, code }) => this.observed.push(`${operation} ${code}`),
      signal: this.#stop.signal,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#environment[Symbol.dispose]();
    await this.fake[Symbol.asyncDispose]();
  }
}

/** refTo returns a ref to a secret for pods of the namespace `team`. */
export function refTo(path: string, more: Partial<SecretRef> = {}): SecretRef {
  return { path, namespace: 'team', ...more };
}

/** NEVER is a signal that is never aborted. */
export const NEVER: AbortSignal = new AbortController().signal;
