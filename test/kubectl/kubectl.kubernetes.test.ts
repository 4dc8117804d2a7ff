import { describe, it } from 'vitest';
import { compareSession, embeddedControlPlane } from './compare.ts';
import { sessions } from './sessions.ts';
import { toolSets } from './tools.ts';

const embedded = embeddedControlPlane();

describe.each(toolSets)('kubectl $kubectl says the same of both control planes when somebody', (set) => {
  it.for(sessions)('$name', { timeout: 300_000 }, ({ steps }, context) =>
    compareSession(steps, set, embedded, context),
  );
});
