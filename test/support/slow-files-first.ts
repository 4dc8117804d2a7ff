import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, as `npm test` and `npm run test:kubernetes` print them. */
const SLOW = [
  'test/kubectl/kubectl.kubernetes.test.ts',
  'docs/operators/hsm-secrets/examples.kubernetes.test.ts',
  'operators/hsm-secrets/src/scenarios/steady-state.cluster.test.ts',
  'docs/operators/jasm/examples.kubernetes.test.ts',
  'docs/operators/configmap-sync/examples.kubernetes.test.ts',
  'test/guide/guide.kubernetes.test.ts',
  'operators/configmap-sync/src/scenarios/bad-input.cluster.test.ts',
  'operators/hsm-secrets/src/scenarios/stored-objects.cluster.test.ts',
  'operators/hsm-secrets/src/scenarios/agents.cluster.test.ts',
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
  'apps/bowline/src/up/up.cluster.test.ts',
  'apps/bowline/src/uninstall/uninstall.cluster.test.ts',
  'apps/bowline/src/manager/run.cluster.test.ts',
  'test/support/fault-proxy/reflector-through-proxy.cluster.test.ts',
];

/** SlowFilesFirst starts the slowest files first, so that no worker is left with a long one at the end. */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const missing = SLOW.find((slow) => !existsSync(join(this.ctx.config.root, slow)));
    if (missing) throw new Error(`${missing} does not exist; update the list in test/support/slow-files-first.ts`);
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = SLOW.findIndex((slow) => moduleId.endsWith(slow));
      return index < 0 ? SLOW.length : index;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
