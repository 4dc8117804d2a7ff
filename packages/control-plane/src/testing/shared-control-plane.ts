import { BowlineError } from '@bowline/runtime';
import { type Attachment, attachControlPlane } from '../access.ts';
import type { ControlPlaneAccess } from '../control-plane.ts';
import { startControlPlane } from '../start-control-plane.ts';

/**
 * SharedControlPlane is the value that a vitest globalSetup can provide to the test files under the key
 * `bowlineControlPlane`. Without it, every worker starts an embedded control plane in its own process.
 */
export type SharedControlPlane =
  | {
      readonly attachment: Attachment;
      /**
       * Whether the control plane ends with the run. Then tests do not delete their namespaces: on a real control
       * plane, deleting one takes about ten times the processor time of creating it, and other tests wait for it.
       * Defaults to false.
       */
      readonly isTemporary?: boolean | undefined;
    }
  /** The reason why no control plane is available; the tests that need one are skipped with this reason. */
  | { readonly unavailable: string };

declare module 'vitest' {
  interface ProvidedContext {
    bowlineControlPlane: SharedControlPlane;
  }
}

/** isTemporary reports whether the shared control plane ends with the run. */
export async function isTemporary(): Promise<boolean> {
  const shared = await provided();
  return shared !== undefined && 'attachment' in shared && (shared.isTemporary ?? false);
}

/** The embedded control plane of this process. It ends with the process. */
let own: Promise<ControlPlaneAccess> | undefined;

/**
 * sharedControlPlane returns the control plane that vitest's globalSetup started for the whole run, or else the one of
 * this process, which is started by the first test. If globalSetup reported why none is available, the running test is
 * skipped with that reason: visibly skipped, neither failed nor passed.
 */
export async function sharedControlPlane(): Promise<ControlPlaneAccess> {
  const shared = await provided();
  if (!shared) {
    own ??= startControlPlane({ kind: 'embedded' });
    return own;
  }
  if ('attachment' in shared) return attachControlPlane(shared.attachment);
  const { getCurrentTest } = await import('vitest/suite');
  const test = getCurrentTest();
  if (test) test.context.skip(shared.unavailable);
  throw new BowlineError('BOWLINE_NO_CONTROL_PLANE', shared.unavailable);
}

/** sharedKind returns the kind of the shared control plane, without starting it. */
export async function sharedKind(): Promise<ControlPlaneAccess['kind']> {
  return (await provided()) ? (await sharedControlPlane()).kind : 'embedded';
}

/** provided returns undefined outside vitest and without such a globalSetup. */
async function provided(): Promise<SharedControlPlane | undefined> {
  try {
    const { inject } = await import('vitest');
    // Undefined when no globalSetup provided it, despite the type.
    return inject('bowlineControlPlane');
  } catch {
    return undefined;
  }
}
