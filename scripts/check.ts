// npm run check: all automated checks of the source that do not execute it.
import { apiReports } from './check/api-report.ts';
import { dependencyDirections } from './check/dependency-directions.ts';
import { brokenExamples } from './check/doc-examples.ts';
import { staleQuotes } from './check/doc-examples-quoted.ts';
import { undocumentedErrorCodes } from './check/error-codes.ts';
import { folderCycles } from './check/folder-cycles.ts';
import { packedFiles } from './check/packed-files.ts';
import { repositoryText } from './check/repository-text.ts';
import { command, runSteps, type Step } from './steps.ts';

const bin = (name: string): string => `node_modules/.bin/${name}`;
/** TypeScript 7, which has no API yet; `typescript` is the version that has one. */
const nativeCompiler = 'node_modules/typescript-native/bin/tsc';

/** findings returns a step that fails if `find` returns problems. */
function findings(name: string, find: () => readonly string[]): Step {
  return {
    name,
    run: async () => {
      const problems = find();
      return problems.length === 0 ? undefined : problems.join('\n');
    },
  };
}

const update = process.argv.includes('--update');

// Two lanes, because the gate's machine has two cores. Steps that need the built packages come after the build in its
// lane.
const lanes: readonly (readonly Step[])[] = [
  [
    command('types', process.execPath, [nativeCompiler, '-p', 'tsconfig.json']),
    command('promises and exhaustiveness', bin('oxlint'), ['--type-aware', '--deny-warnings', '.']),
    command('generated files', process.execPath, [
      '--conditions=@bowline/source',
      '--import',
      'tsx',
      'scripts/generate.ts',
      '--check',
    ]),
    command('unused code and dependencies', bin('knip'), ['--no-progress']),
  ],
  [
    command('format and lint', bin('biome'), ['ci', '--colors=off', '--error-on-warnings', '.']),
    command('build', process.execPath, ['scripts/build.mjs']),
    findings('packages ship no tests', packedFiles),
    findings('API reports', () => apiReports({ update })),
    findings('files quoted in the documentation', () => staleQuotes({ update })),
    findings('examples in the documentation', () => brokenExamples()),
    findings('dependency directions', dependencyDirections),
    findings('no cycles between folders', () => folderCycles()),
    findings('error codes are documented', undocumentedErrorCodes),
    findings('no machine paths or download URLs', repositoryText),
  ],
];

const failed = await Promise.all(lanes.map(runSteps));
process.exit(failed.every((count) => count === 0) ? 0 : 1);
