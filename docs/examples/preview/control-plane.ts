import { attachmentOf, startControlPlane } from '@bowline/control-plane';
import type {} from '@bowline/control-plane/testing';
import type { TestProject } from 'vitest/node';

/** setup runs once before all tests: it starts the embedded control plane, and tells the tests how to reach it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const controlPlane = await startControlPlane({ kind: 'embedded' });
  project.provide('bowlineControlPlane', { attachment: attachmentOf(controlPlane) });
  return () => controlPlane.stop();
}
