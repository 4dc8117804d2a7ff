import { type ControlPlane, connectClient, startControlPlane } from '@bowline/control-plane';
import { installCustomResourceDefinitions, installDependencies } from '@bowline/runtime/install';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';

/**
 * ControlPlanes are control planes with everything that the scenarios need. Runs share the first one, except those of an exclusive
 * scenario: each of them has a control plane that no other run of the scenario uses meanwhile.
 */
export class ControlPlanes implements AsyncDisposable {
  readonly shared: ControlPlane;
  readonly #all: readonly ControlPlane[];
  readonly #free: ControlPlane[];
  readonly #waiting: ((controlPlane: ControlPlane) => void)[] = [];

  private constructor(shared: ControlPlane, others: readonly ControlPlane[]) {
    this.shared = shared;
    this.#all = [shared, ...others];
    this.#free = [...this.#all];
  }

  static async start(count: number, log: (message: string) => void): Promise<ControlPlanes> {
    const [shared, ...others] = await Promise.all(Array.from({ length: count }, () => startOne(log)));
    if (!shared) throw new Error('at least one control plane is needed');
    return new ControlPlanes(shared, others);
  }

  /** use runs a scenario on one of the control planes, once one is free for it. */
  async use<T>({ isExclusive }: Scenario, run: (controlPlane: ControlPlane) => Promise<T>): Promise<T> {
    if (!isExclusive) return run(this.shared);
    const taken = this.#free.pop() ?? (await new Promise<ControlPlane>((resolve) => this.#waiting.push(resolve)));
    try {
      return await run(taken);
    } finally {
      const next = this.#waiting.shift();
      if (next) next(taken);
      else this.#free.push(taken);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map((each) => each[Symbol.asyncDispose]()));
  }
}

async function startOne(onProgress: (message: string) => void): Promise<ControlPlane> {
  const controlPlane = await startControlPlane({
    kind: 'kubernetes',
    scheduler: false,
    workloads: false,
    nodes: 0,
    // As on older supported servers: a cache lists before it watches, so that both permissions are used.
    apiServerFlags: ['--feature-gates=WatchList=false'],
    onProgress,
  });
  // All at once and before anything else: admission observes new kinds only every 30 s.
  await install(controlPlane);
  return controlPlane;
}

async function install(controlPlane: ControlPlane): Promise<void> {
  await using admin = await connectClient(await controlPlane.kubeconfig('admin'));
  await installCustomResourceDefinitions(
    admin,
    scenarios.flatMap(({ operator }) => operator.resources),
  );
  for (const { operator, prepare } of scenarios) {
    await installDependencies(admin, operator);
    await prepare?.(admin);
  }
}
