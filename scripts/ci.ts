// What .ci/run does after `npm ci`: every gate in turn, all of them even after a failure, and one closing line.
import { spawn } from 'node:child_process';
import { proofNames } from './proof.ts';
import { repositoryRoot } from './repository.ts';
import { secondNode } from './second-node.ts';

let passed = 0;
let failed = 0;

/** gate runs a command, shows its output as it comes, and adds what it counted; one that counts nothing is one check. */
async function gate(name: string, program: string, args: readonly string[]): Promise<void> {
  console.log(`\n=== ${name}`);
  const start = performance.now();
  const { code, tail } = await run(program, args);
  const seconds = Math.round((performance.now() - start) / 1000);
  const counted = /^(\d+) passed, (\d+) failed/m.exec(tail);
  passed += counted ? Number(counted[1]) : code === 0 ? 1 : 0;
  failed += counted ? Math.max(Number(counted[2]), code === 0 ? 0 : 1) : code === 0 ? 0 : 1;
  console.log(`=== ${name}: ${code === 0 ? 'ok' : `failed with exit code ${code}`} after ${seconds} s`);
}

function run(program: string, args: readonly string[]): Promise<{ code: number | null; tail: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: repositoryRoot, stdio: ['ignore', 'pipe', 'inherit'] });
    let tail = '';
    child.stdout.on('data', (chunk: Buffer) => {
      process.stdout.write(chunk);
      tail = (tail + chunk.toString()).slice(-2000);
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
await gate('npm test', ...script('test.ts', 'node'));

const other = secondNode();
await gate(`unit tests on Node ${other.version}`, other.program, script('test.ts', 'unit')[1]);
// Runs the packed packages on both Nodes too (test/packed).
await gate('test:kubernetes', ...script('test.ts', 'kubernetes'));
for (const proof of proofNames()) {
  await gate(`prove ${proof}`, ...script('prove.ts', proof, '--seconds', '60'));
}

console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
