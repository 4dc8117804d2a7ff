import { describe, it } from 'vitest';
import { compareSession, embeddedControlPlane } from './compare.ts';
import { sessions } from './sessions.ts';
import { toolSets } from './tools.ts';

const embedded = embeddedControlPlane();

describe.each(toolSets)('kubectl $kubectl prints the same on both control planes when a user', (set) => {
  it.for(sessions)('$name', { timeout: 300_000 }, ({ steps }, context) =>
    compareSession(steps, set, embedded, context),
  );
});
