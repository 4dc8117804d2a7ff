import { keyOf } from '@bowline/kubernetes';
import { controller, slow } from '@bowline/runtime';
import type { KeyStream } from '@bowline/runtime/controller';
import { Checkout } from './checkout.ts';

/** GitDeps holds the dependencies of the controller besides the cluster. */
export interface GitDeps {
  /** The repositories that were pushed to. */
  readonly pushes: KeyStream;
  /** headOf returns the revision of a repository, or undefined if the repository does not exist. */
  readonly headOf: (repository: string, signal: AbortSignal) => Promise<string | undefined>;
}

/** checkouts reconciles when a repository is pushed to, and every ten minutes in case a push was missed. */
export const checkouts = controller(Checkout, {
  indexes: { repository: ({ spec }) => [spec.repository] },
})
  .using<GitDeps>()
  .triggeredBy('pushes', async function* (signal, { pushes }, cache) {
    for await (const repository of pushes.follow(signal)) {
      yield* cache.list(Checkout, { by: { repository } }).map(keyOf);
    }
  })
  .reconcile(async ({ object, deps, status, signal }) => {
    const { repository } = object.spec;
    const revision = await deps.headOf(repository, signal);
    if (revision === undefined) {
      throw slow('RepositoryMissing', `spec.repository: ${repository} does not exist; create it, or correct the name`);
    }
    status.set({ revision });
    return { requeueAfterMs: 600_000 };
  });
