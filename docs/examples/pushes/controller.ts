import { keyOf } from '@bowline/kubernetes';
import { controller, slow } from '@bowline/runtime';
import { Checkout } from './checkout.ts';
import type { Pushes } from './pushes.ts';

/** GitDeps is what the controller needs besides the cluster. */
export interface GitDeps {
  readonly pushes: Pushes;
  /** headOf asks a repository for its revision; undefined when there is no such repository. */
  readonly headOf: (repository: string, signal: AbortSignal) => Promise<string | undefined>;
}

/** checkouts follows repositories: a push makes it look at once, and every ten minutes it looks whether it missed one. */
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
    if (revision === undefined)
      throw slow('RepositoryMissing', `spec.repository: there is no repository ${repository}`);
    status.set({ revision });
    return { requeueAfterMs: 600_000 };
  });
