import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ControlPlane, startControlPlane } from '@bowline/control-plane';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import { afterAll, expect, type TestContext } from 'vitest';
import { repositoryRoot } from '../../scripts/repository.ts';
import { withoutKnownDifferences } from './known-differences.ts';
import { openTerminal, type Step } from './terminal.ts';
import { installTools, type ToolSet } from './tools.ts';

/** The folder that every session works in a copy of. */
const files = join(repositoryRoot, 'test/kubectl/files');

/** embeddedControlPlane gives the tests of a file one, which starts when the first of them needs it and ends with the last. */
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

/** compareSession types the same at both control planes, step by step, and expects to see the same. */
export async function compareSession(
  steps: readonly Step[],
  set: ToolSet,
  embedded: () => Promise<ControlPlane>,
  context: TestContext,
): Promise<void> {
  const shared = await sharedControlPlane(); // Skips the test where there is none.
  const tools = await installTools(set);
  if ('skippedBecause' in tools) return context.skip(tools.skippedBecause);
  await using real = await openTerminal(shared, { tools: tools.folder, files });
  await using ours = await openTerminal(await embedded(), { tools: tools.folder, files });
  const show = (step: Step): Promise<readonly [string, string]> => Promise.all([real.show(step), ours.show(step)]);
  let expected = '';
  let found = '';
  for (const step of steps) {
    let seen = await show(step);
    // What only looks may look again: events and status come a moment later.
    for (let left = 10; left > 0 && isLook(step) && !isSame(seen); left--) {
      await pause(300);
      seen = await show(step);
    }
    expected += seen[0];
    found += seen[1];
  }
  expect(withoutKnownDifferences(found)).toBe(withoutKnownDifferences(expected));
}

function isLook(step: Step): boolean {
  const command = typeof step === 'string' ? step : 'unordered' in step ? step.unordered : '';
  return /^kubectl (?:api-resources|auth|describe|events|explain|get) /.test(command);
}

function isSame([real, ours]: readonly [string, string]): boolean {
  return withoutKnownDifferences(ours) === withoutKnownDifferences(real);
}
