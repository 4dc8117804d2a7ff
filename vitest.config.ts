import { defineConfig } from 'vitest/config';
import { OutcomeReporter } from './scripts/test-outcome.ts';
import { SlowFilesFirst } from './test/support/slow-files-first.ts';

const source = { conditions: ['@bowline/source'] };
const everywhere = ['packages', 'operators', 'apps']
  .map((folder) => `${folder}/*/src/**`)
  .concat(['scripts/**', 'test/**', 'bench/**', 'docs/**']);

const files = (ending: string): string[] => everywhere.map((folder) => `${folder}/*${ending}`);
const excluded = ['**/node_modules/**', '**/dist/**'];
/** Tests that start many processes, restart operators often or create many objects. */
const LONG = ['.long.test.ts', '.long.cluster.test.ts'].flatMap(files);
const onControlPlane = {
  exclude: excluded,
  pool: 'threads' as const,
  isolate: false,
  // Limits for tests that hang.
  testTimeout: 120_000,
  hookTimeout: 180_000,
};

const onRealControlPlane = {
  ...onControlPlane,
  globalSetup: ['./test/support/shared-control-plane.ts'],
  // Its programs compete with those of other tests.
  testTimeout: 240_000,
  hookTimeout: 360_000,
};
/** Tests of an operator with cluster-scoped kinds: each worker that runs one keeps a real control plane for it. */
const EXCLUSIVE = ['cluster', 'kubernetes'].map((kind) => `operators/ztwim/src/**/*.${kind}.test.ts`);

/**
 * Tests of the project `embedded` run on a control plane in the process of their worker, without sockets between them: of the
 * processor time, about a quarter was TLS and HTTP/2. Those of `kubernetes` share a real one;
 * `kubernetes-exclusive` has those that do not, which one worker runs.
 *
 * The project `node` runs only unit tests and starts no control plane. `npm test` runs them in the project `embedded`, so that the
 * packages are loaded once.
 *
 * Three kinds of test, told apart by their file name:
 * `x.test.ts` needs nothing; `x.cluster.test.ts` is a behaviour test that is written once and runs on every kind of control
 * plane; `x.kubernetes.test.ts` is about the real control plane, or compares with it. `x.long.test.ts` and
 * `x.long.cluster.test.ts` are the first two kinds, but `npm test` leaves them out: `npm run test:kubernetes` also runs them on
 * the embedded control plane, in the project `embedded-long`.
 */
export default defineConfig({
  ssr: { resolve: source },
  resolve: source,
  test: {
    reporters: ['default', new OutcomeReporter()],
    setupFiles: ['./test/support/plain-output.ts'],
    globalSetup: ['./test/support/bundle-folder.ts', './test/support/temporary-folder.ts'],
    sequence: { sequencer: SlowFilesFirst },
    // A limit for polls that hang, as for tests: a program that was started may need more than vitest's second.
    expect: { poll: { interval: 20, timeout: 30_000 } },
    // Transformed modules are kept between runs: a run of a single file takes two thirds of the time.
    experimental: { fsModuleCache: true },
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          include: files('.test.ts'),
          exclude: ['**/*.cluster.test.ts', '**/*.kubernetes.test.ts', ...LONG, ...excluded],
          pool: 'threads',
          isolate: false,
          // A limit for tests that hang; on a busy machine a test may take much longer than on an idle one.
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          ...onControlPlane,
          name: 'embedded',
          include: files('.test.ts'),
          exclude: ['**/*.kubernetes.test.ts', ...LONG, ...excluded],
        },
      },
      {
        extends: true,
        test: { ...onControlPlane, name: 'embedded-long', include: LONG },
      },
      {
        extends: true,
        test: {
          ...onRealControlPlane,
          name: 'kubernetes',
          include: [...files('.cluster.test.ts'), ...files('.kubernetes.test.ts')],
          exclude: [...EXCLUSIVE, ...excluded],
        },
      },
      {
        extends: true,
        test: { ...onRealControlPlane, name: 'kubernetes-exclusive', include: EXCLUSIVE },
      },
    ],
  },
});
