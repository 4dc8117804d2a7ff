// npm run check: everything about the source that a machine can judge without running it.
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

/** findings is a step whose problems are a list. */
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

const failed = await runSteps([
  command('format and lint', bin('biome'), ['ci', '--colors=off', '--error-on-warnings', '.']),
  command('types', bin('tsc'), ['-p', 'tsconfig.json']),
  command('promises and exhaustiveness', bin('eslint'), ['--max-warnings', '0', '.']),
  findings('dependency directions', dependencyDirections),
  findings('no cycles between folders', () => folderCycles()),
  command('unused code and dependencies', bin('knip'), ['--no-progress']),
  command('generated files', process.execPath, [
    '--conditions=@bowline/source',
    '--import',
    'tsx',
    'scripts/generate.ts',
    '--check',
  ]),
  command('build', process.execPath, ['scripts/build.mjs']),
  findings('packages ship no tests', packedFiles),
  findings('API reports', () => apiReports({ update })),
  findings('files quoted in the documentation', () => staleQuotes({ update })),
  findings('examples in the documentation', () => brokenExamples()),
  findings('error codes are documented', undocumentedErrorCodes),
  findings('no machine paths or download addresses', repositoryText),
]);
process.exit(failed === 0 ? 0 : 1);
