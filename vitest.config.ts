import { defineConfig } from 'vitest/config';

const source = { conditions: ['@bowline/source'] };
const everywhere = ['packages', 'operators', 'apps']
  .map((folder) => `${folder}/*/src/**`)
  .concat(['scripts/**', 'test/**', 'bench/**', 'docs/**']);

/**
 * Two kinds of test, told apart by their file name:
 * `x.test.ts` needs Node alone; `x.cluster.test.ts` is a behaviour test that needs a control plane and is written once
 * for every kind of control plane.
 */
export default defineConfig({
  ssr: { resolve: source },
  resolve: source,
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          include: everywhere.map((folder) => `${folder}/*.test.ts`),
          exclude: ['**/*.cluster.test.ts', '**/node_modules/**', '**/dist/**'],
          pool: 'threads',
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'kubernetes',
          include: everywhere.map((folder) => `${folder}/*.cluster.test.ts`),
          exclude: ['**/node_modules/**', '**/dist/**'],
          pool: 'threads',
          isolate: false,
          globalSetup: ['./test/support/kubernetes-control-plane.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
