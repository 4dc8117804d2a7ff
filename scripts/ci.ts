// The steps of .ci/run after `npm ci`: runs every gate in turn, even after a failure, and prints one summary line.
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { proofNames } from './proof.ts';
import { repositoryRoot } from './repository.ts';
import { secondNode } from './second-node.ts';
import { testEnvironment } from './test-environment.ts';

/** The time in which a proof may start new cases. */
const PROOF_SECONDS = 15;
/** The crash proof needs more time: every operator starts its own control plane and has several actions. */
const MORE_SECONDS: Readonly<Record<string, number>> = { crash: 45 };

/**
 * Proofs with more cases than the time allows: each commit starts at a different case, so that every case runs
 * eventually.
 */
const LISTED: ReadonlySet<string> = new Set(['rbac']);

/** The proofs that take longest start first, so that no core is left with one at the end. */
const LONGEST = ['crash', 'differential', 'rbac', 'certificates', 'fuzz-report'];

/** seedOfCommit returns the seed of this commit, or 1 without git. */
function seedOfCommit(): string {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: repositoryRoot, encoding: 'utf8' });
  return String(Number.parseInt(String(stdout).slice(0, 4), 16) || 1);
}

let passed = 0;
let failed = 0;
/** Failures and flaky tests, repeated at the end so that they are easy to find in a long output. */
const named: string[] = [];
/** The duration of each step: the gates, and the steps of `check`. */
const durations: { readonly name: string; readonly seconds: number }[] = [];

/** gate runs a command, prints its output as it arrives, and adds its counts; a command without counts is one check. */
async function gate(name: string, program: string, args: readonly string[]): Promise<void> {
  console.log(`\n=== ${name}`);
  await runGate(name, program, args, (line) => console.log(line));
}

/** gateInBackground is `gate` for commands that run at the same time: the output is printed when a command has ended. */
async function gateInBackground(name: string, program: string, args: readonly string[]): Promise<void> {
  const lines = [`\n=== ${name}`];
  await runGate(name, program, args, (line) => lines.push(line));
  console.log(lines.join('\n'));
}

async function runGate(
  name: string,
  program: string,
  args: readonly string[],
  print: (line: string) => unknown,
): Promise<void> {
  const start = performance.now();
  const { code, tail } = await run(program, args, (line) => {
    print(line);
    if (/^(failed: |flaky: |violated: |FAIL )/.test(line)) named.push(`${name}: ${line}`);
    const step = /^(?:ok {2}|FAIL) (.+) \(([\d.]+) s\)$/.exec(line);
    if (step) durations.push({ name: `${name}: ${step[1]}`, seconds: Number(step[2]) });
  });
  const seconds = Math.round((performance.now() - start) / 1000);
  durations.push({ name, seconds });
  const counted = /^(\d+) passed, (\d+) failed/m.exec(tail);
  passed += counted ? Number(counted[1]) : code === 0 ? 1 : 0;
  failed += counted ? Math.max(Number(counted[2]), code === 0 ? 0 : 1) : code === 0 ? 0 : 1;
  if (code !== 0 && !named.some((each) => each.startsWith(`${name}: `)))
    named.push(`${name}: exited with code ${code}`);
  print(`=== ${name}: ${code === 0 ? 'ok' : `failed with exit code ${code}`} after ${seconds} s`);
}

function run(
  program: string,
  args: readonly string[],
  onLine: (line: string) => void,
): Promise<{ code: number | null; tail: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: repositoryRoot,
      env: testEnvironment,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let tail = '';
    createInterface({ input: child.stdout }).on('line', (line) => {
      onLine(line);
      tail = `${tail}${line}\n`.slice(-2000);
    });
    child.on('error', (error) => resolve({ code: 127, tail: error.message }));
    child.on('close', (code) => resolve({ code, tail }));
  });
}

const script = (file: string, ...args: string[]): [string, string[]] => [
  process.execPath,
  ['--conditions=@bowline/source', '--import', 'tsx', `scripts/${file}`, ...args],
];

await gate('check', ...script('check.ts'));
await gate('npm test', ...script('test.ts', 'node', '--rerun'));

const other = secondNode();
await gate(`unit tests on Node ${other.version}`, other.program, script('test.ts', 'unit', '--rerun')[1]);
// Also runs the packed packages on both Node versions (test/packed).
await gate('test:kubernetes', ...script('test.ts', 'kubernetes', '--rerun'));
const proofGate = (proof: string): [string, string, string[]] => {
  const seconds = MORE_SECONDS[proof] ?? PROOF_SECONDS;
  const seed = LISTED.has(proof) ? ['--seed', seedOfCommit()] : [];
  return [['prove', proof, ...seed].join(' '), ...script('prove.ts', proof, '--seconds', String(seconds), ...seed)];
};
// Two proofs at a time: those with virtual time use one core, the others wait for a control plane part of the time. With three, a
// proof with real timers may not finish a single case in its time.
const waiting = [...LONGEST, ...proofNames().filter((each) => !LONGEST.includes(each))];
const lane = async (): Promise<void> => {
  for (let proof = waiting.shift(); proof !== undefined; proof = waiting.shift())
    await gateInBackground(...proofGate(proof));
};
await Promise.all([lane(), lane()]);

const slowest = durations.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10);
console.log(`\nslowest steps\n${slowest.map(({ name, seconds }) => `${Math.round(seconds)} s  ${name}`).join('\n')}`);
console.log(['', ...named, `${passed} passed, ${failed} failed`].join('\n'));
process.exit(failed === 0 ? 0 : 1);
