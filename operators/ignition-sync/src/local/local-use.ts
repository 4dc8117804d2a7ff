import type { LocalUse } from '@bowline/runtime/manager';

/** local starts what the samples need: a Git server, and a simulated gateway with its agent for each pod. */
export const local: LocalUse = {
  start: async (context) => {
    // Loaded here, because the manager has the same declaration and needs none of it.
    const { startTrial } = await import('./start-trial.ts');
    return await startTrial(context);
  },
};
