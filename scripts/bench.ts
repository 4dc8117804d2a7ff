// npm run bench -- SUITE: runs one suite of bench/suites and stores its result.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BenchSuite, renderResults } from '../bench/suite.ts';
import { repositoryRoot } from './repository.ts';

const folder = join(repositoryRoot, 'bench/suites');
const suites = existsSync(folder)
  ? readdirSync(folder)
      .filter((name) => existsSync(join(folder, name, 'suite.ts')))
      .sort()
  : [];

const [name, ...flags] = process.argv.slice(2);
if (name === undefined || !suites.includes(name)) {
  console.error(
    `${name === undefined ? 'missing suite' : `unknown suite ${JSON.stringify(name)}`}; usage: npm run bench -- ${suites.join(' | ')}`,
  );
  process.exit(2);
}

const module = (await import(pathToFileURL(join(folder, name, 'suite.ts')).href)) as { suite: BenchSuite };
const result = await module.suite.run({ flags, log: (line) => console.error(line) });
if (module.suite.keeps(flags)) {
  mkdirSync(join(repositoryRoot, 'bench/results'), { recursive: true });
  writeFileSync(join(repositoryRoot, 'bench/results', `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
  writeFileSync(join(repositoryRoot, 'bench/RESULTS.md'), renderResults(join(repositoryRoot, 'bench/results')));
}
for (const line of module.suite.describe(result)) console.log(line);
