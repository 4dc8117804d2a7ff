import { attachmentOf, type ControlPlane, startControlPlane } from '@bowline/control-plane';
import type {} from '@bowline/control-plane/testing';
import { BowlineError } from '@bowline/runtime';
import type { TestProject } from 'vitest/node';

/**
 * The globalSetup of the `kubernetes` project: one real control plane for the whole run; every test file attaches to it
 * and works in namespaces of its own. Where there are neither binaries nor Go, the tests are skipped with the reason.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let controlPlane: ControlPlane;
  try {
    controlPlane = await startControlPlane({
      kind: 'kubernetes',
      onProgress: (line) => console.log(line),
      onCrash: (error) => console.error(`${error.code}: ${error.message}`),
    });
  } catch (error) {
    if (!(error instanceof BowlineError) || error.code !== 'BOWLINE_BINARIES_MISSING') throw error;
    console.error(`LEFT OUT: every test that needs a real control plane. ${error.message}`);
    project.provide('bowlineControlPlane', { unavailable: error.message });
    return async () => {};
  }
  const { version, timings } = controlPlane;
  console.log(`Kubernetes ${version} control plane ready in ${(timings.totalMs / 1000).toFixed(1)} s`);
  project.provide('bowlineControlPlane', { attachment: attachmentOf(controlPlane) });
  return () => controlPlane.stop();
}
