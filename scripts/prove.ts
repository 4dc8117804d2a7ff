// npm run prove -- NAME [--runs N] [--seed S] [--seconds T] [--keep]
// Without NAME it lists the proofs. The last line is JSON; exits with 1 when a case was violated.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type Proof, proofNames, proofsFolder } from './proof.ts';
import { repositoryRoot } from './repository.ts';

async function loadProof(name: string): Promise<Proof> {
  const module = (await import(pathToFileURL(join(proofsFolder, name, 'proof.ts')).href)) as { proof: Proof };
  return module.proof;
}

const { values, positionals } = parseArgs({
  args: joined(process.argv.slice(2)),
  allowPositionals: true,
  strict: false,
  options: {
    runs: { type: 'string' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});

/** parseArgs does not know a proof's own flags, and takes the argument after an unknown flag as its value only with a `=`. */
function joined(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const isNamed = (flag = ''): boolean => /^--[^=]+$/.test(flag) && flag !== '--keep';
    if (isNamed(args[index - 1]) && !arg.startsWith('-')) return [];
    const value = args[index + 1];
    return isNamed(arg) && value !== undefined && !value.startsWith('-') ? [`${arg}=${value}`] : [arg];
  });
}

function parseInteger(flag: string, text: unknown): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) {
    console.error(`--${flag} must be an integer, not ${JSON.stringify(text)}`);
    process.exit(2);
  }
  return value;
}

const [name] = positionals;
if (name === undefined) {
  console.log('proofs (npm run prove -- NAME [--runs N] [--seed S] [--seconds T] [--keep]):');
  for (const each of proofNames()) {
    const proof = await loadProof(each);
    console.log(`  ${each.padEnd(14)} ${proof.summary} (${proof.defaultRuns} runs by default)`);
  }
  process.exit(0);
}
if (!proofNames().includes(name)) {
  console.error(`unknown proof ${JSON.stringify(name)}; known: ${proofNames().join(', ') || 'none'}`);
  process.exit(2);
}

const proof = await loadProof(name);
const known = new Set(['runs', 'seed', 'seconds', 'keep']);
const flags = Object.fromEntries(
  Object.entries(values)
    .filter(([flag]) => !known.has(flag))
    .map(([flag, value]) => [flag, String(value)]),
);
const result = await proof.run({
  runs: values.runs === undefined ? proof.defaultRuns : parseInteger('runs', values.runs),
  seed: parseInteger('seed', values.seed),
  ...(values.seconds === undefined ? {} : { seconds: parseInteger('seconds', values.seconds) }),
  flags,
  log: (line) => console.error(line),
});

const own = Object.entries(flags).map(([flag, value]) => ` --${flag} ${value}`);
for (const violation of result.violations.slice(0, 10)) {
  console.log(`violated: seed ${violation.seed}: ${violation.message}`);
  console.log(`  repeat with: npm run prove -- ${name}${own.join('')} --runs 1 --seed ${violation.seed}`);
}
if (values.keep) {
  const kept = join(repositoryRoot, 'docs/proofs');
  mkdirSync(kept, { recursive: true });
  writeFileSync(join(kept, `${name}.json`), `${JSON.stringify({ ...result, node: process.version }, null, 2)}\n`);
}
console.log(JSON.stringify(result));
process.exit(result.violations.length === 0 && result.runs > 0 ? 0 : 1);
