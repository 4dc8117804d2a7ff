import { defineConfig } from 'vitest/config';

/** Tests that need a control plane are told apart by their name. They share one, which control-plane.ts starts. */
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['*.test.ts'], exclude: ['*.cluster.test.ts'] } },
      {
        test: { name: 'cluster', include: ['*.cluster.test.ts'], globalSetup: 'control-plane.ts', testTimeout: 60_000 },
      },
    ],
  },
});
