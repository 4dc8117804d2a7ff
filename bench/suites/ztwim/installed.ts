import { CONFIG_PATH, createFive } from './five-objects.ts';
import { type ObjectWatch, untilComplete, untilEmpty, watchChildren, watchFive } from './object-watch.ts';
import type { ZtwimScene } from './scene.ts';
import { type RunningZtwim, runZtwim } from './ztwim-run.ts';

/** install creates the five objects and waits until the operator has no work left. */
export async function install(scene: ZtwimScene, operator: RunningZtwim): Promise<void> {
  using children = await watchChildren(scene);
  await createFive(scene.api);
  await untilComplete(children, scene);
  await operator.settled();
}

/** uninstall deletes the ZeroTrustWorkloadIdentityManager, and waits until nothing is left and the operator has no work left. */
export async function uninstall(scene: ZtwimScene, operator: RunningZtwim): Promise<void> {
  using five = await watchFive(scene);
  using children = await watchChildren(scene);
  await deleteAll(scene, five, children);
  await operator.settled();
}

/** deleteAll deletes the ZeroTrustWorkloadIdentityManager, and waits until nothing is left. */
export async function deleteAll(scene: ZtwimScene, five: ObjectWatch, children: ObjectWatch): Promise<void> {
  await scene.api.ok('DELETE', CONFIG_PATH);
  await untilEmpty(five);
  await untilEmpty(children);
}

/**
 * withInstalled installs everything, stops the operator, does the work, and deletes everything. The work starts operators as it
 * needs them.
 */
export async function withInstalled(scene: ZtwimScene, work: () => Promise<void>): Promise<void> {
  {
    await using operator = await runZtwim(scene);
    await install(scene, operator);
  }
  await work();
  await using operator = await runZtwim(scene);
  await uninstall(scene, operator);
}
