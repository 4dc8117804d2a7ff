import type { RevisionWatch } from '../../support/revision-watch.ts';
import { initial } from './first-sync-run.ts';
import { type RunningJasm, runJasm } from './jasm-run.ts';
import { ensurePods } from './pods.ts';
import type { JasmScene } from './scene.ts';
import { clearSecrets, revision, watchSecrets } from './secrets.ts';

/** withSecrets runs the work while the operator runs and every pod has its Secret, and removes both. */
export async function withSecrets(
  scene: JasmScene,
  work: (operator: RunningJasm, watch: RevisionWatch) => Promise<void>,
): Promise<void> {
  const { pods } = scene.plan;
  await ensurePods(scene, pods);
  try {
    using watch = await watchSecrets(scene);
    await using operator = await runJasm(scene);
    await watch.reached(revision(initial), pods);
    await operator.settled(pods, pods);
    await work(operator, watch);
  } finally {
    await clearSecrets(scene);
  }
}
