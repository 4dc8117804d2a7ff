import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ControlPlane, startControlPlane } from '@bowline/control-plane';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import { afterAll, expect, type TestContext } from 'vitest';
import { repositoryRoot } from '../../scripts/repository.ts';
import { withoutKnownDifferences } from './known-differences.ts';
import { openTerminal, type Step } from './terminal.ts';
import { installTools, type ToolSet } from './tools.ts';

/** Each session works in a copy of this folder. */
const files = join(repositoryRoot, 'test/kubectl/files');

/** embeddedControlPlane returns a function that starts a control plane on first use; it is shared by the tests of a file and stopped after the last one. */
export function embeddedControlPlane(): () => Promise<ControlPlane> {
  const errors: unknown[] = [];
  let started: Promise<ControlPlane> | undefined;
  afterAll(async () => {
    await (await started)?.stop();
    expect(errors).toEqual([]);
  });
  return () => {
    started ??= startControlPlane({ kind: 'embedded', onError: (error) => errors.push(error) });
    return started;
  };
}

/** compareSession runs the same steps against both control planes and expects the same output. */
export async function compareSession(
  steps: readonly Step[],
  set: ToolSet,
  embedded: () => Promise<ControlPlane>,
  context: TestContext,
): Promise<void> {
  const shared = await sharedControlPlane(); // Skips the test if there is no control plane.
  const tools = await installTools(set);
  if ('skippedBecause' in tools) return context.skip(tools.skippedBecause);
  await using real = await openTerminal(shared, { tools: tools.folder, files });
  await using ours = await openTerminal(await embedded(), { tools: tools.folder, files });
  const show = (step: Step): Promise<readonly [string, string]> => Promise.all([real.show(step), ours.show(step)]);
  let expected = '';
  let found = '';
  for (const step of steps) {
    let seen = await show(step);
    // Read-only commands are retried: events and status are updated asynchronously.
    for (let left = 10; left > 0 && isReadOnly(step) && !isSame(seen); left--) {
      await pause(300);
      seen = await show(step);
    }
    expected += seen[0];
    found += seen[1];
  }
  expect(withoutKnownDifferences(found)).toBe(withoutKnownDifferences(expected));
}

function isReadOnly(step: Step): boolean {
  const command = typeof step === 'string' ? step : 'unordered' in step ? step.unordered : '';
  return /^kubectl (?:api-resources|auth|describe|events|explain|get) /.test(command);
}

function isSame([real, ours]: readonly [string, string]): boolean {
  return withoutKnownDifferences(ours) === withoutKnownDifferences(real);
}
