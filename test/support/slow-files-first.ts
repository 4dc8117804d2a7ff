import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, as `npm test` and `npm run test:kubernetes` print them. */
const SLOW = [
  'operators/ignition-sync/src/scenarios/agent-rollback.long.cluster.test.ts',
  'operators/ignition-sync/src/scenarios/agent-crashes.long.cluster.test.ts',
  'operators/ignition-sync/src/scenarios/many-gateways.long.cluster.test.ts',
  'operators/ignition-sync/src/scenarios/agent-files.long.cluster.test.ts',
  'operators/hsm-secrets/src/scenarios/canary.long.cluster.test.ts',
  'operators/ignition-sync/src/scenarios/sidecar.long.cluster.test.ts',
  'test/kubectl/kubectl.kubernetes.test.ts',
  'docs/operators/hsm-secrets/examples.kubernetes.test.ts',
  'operators/hsm-secrets/src/scenarios/steady-state.long.cluster.test.ts',
  'docs/operators/jasm/examples.kubernetes.test.ts',
  'docs/operators/configmap-sync/examples.kubernetes.test.ts',
  'test/guide/guide.kubernetes.test.ts',
  'operators/configmap-sync/src/scenarios/bad-input.cluster.test.ts',
  'operators/hsm-secrets/src/scenarios/stored-objects.cluster.test.ts',
  'operators/hsm-secrets/src/scenarios/agents.long.cluster.test.ts',
  'operators/hsm-secrets/src/scenarios/grace.cluster.test.ts',
  'packages/runtime/src/identity/third-party.cluster.test.ts',
  'packages/control-plane/src/workloads/workloads.cluster.test.ts',
  'packages/control-plane/src/workloads/workloads.kubernetes.test.ts',
  'packages/control-plane/src/testing/isolation.cluster.test.ts',
  'packages/runtime/src/controller/killed.cluster.test.ts',
  'docs/examples/preview/operator.cluster.test.ts',
  'test/packed/packed.kubernetes.test.ts',
  'operators/jasm/src/scenarios/restart.cluster.test.ts',
  'operators/configmap-sync/src/scenarios/steady-state.cluster.test.ts',
  'packages/runtime/src/controller/restart.cluster.test.ts',
  'packages/runtime/src/webhook/webhooks.cluster.test.ts',
  'apps/bowline/src/up/up.long.cluster.test.ts',
  'apps/bowline/src/uninstall/uninstall.long.cluster.test.ts',
  'apps/bowline/src/manager/run.long.cluster.test.ts',
  'test/support/fault-proxy/reflector-through-proxy.long.cluster.test.ts',
];

/** How many other files follow each slow one. Many slow files start programs of their own, and would compete for the processor. */
const OTHERS_BETWEEN = 2;

/**
 * SlowFilesFirst starts the slowest files first, so that no worker is left with a long one at the end, and others between them,
 * whose tests mostly wait.
 */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const missing = SLOW.find((slow) => !existsSync(join(this.ctx.config.root, slow)));
    if (missing) throw new Error(`${missing} does not exist; update the list in test/support/slow-files-first.ts`);
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => SLOW.findIndex((slow) => moduleId.endsWith(slow));
    const slow = sorted.filter((file) => rank(file) >= 0).sort((a, b) => rank(a) - rank(b));
    const others = sorted.filter((file) => rank(file) < 0);
    return [...slow.flatMap((file) => [file, ...others.splice(0, OTHERS_BETWEEN)]), ...others];
  }
}
