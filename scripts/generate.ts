// npm run generate [-- --check | --fetch [--kubeconfig FILE] [--context NAME]]
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { differingInputs, type FetchDocument, fetchInputs, readInputs, writeInputs } from './generate/inputs.ts';
import { compareGenerated, writeGenerated } from './generate/outputs.ts';

const USAGE = `usage: npm run generate -- [options]

Without options: writes the generated files of packages/kubernetes from its committed openapi/ folder.
  --check            compare only; exit 1 when a generated file is not what its input gives
  --fetch            first read the openapi/ folder anew from a running API server, through kubectl
  --kubeconfig FILE  with --fetch: the kubeconfig to use (default: kubectl's own)
  --context NAME     with --fetch: the kubeconfig's context to use (default: the current one)
`;

const root = fileURLToPath(new URL('..', import.meta.url));
process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean', default: false },
      fetch: { type: 'boolean', default: false },
      kubeconfig: { type: 'string' },
      context: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  if (values.check && values.fetch) {
    console.error('--check compares what is committed, --fetch replaces it: give one of them');
    return 2;
  }
  if (values.check) return check();
  if (values.fetch) await refresh(kubectl(values));
  for (const { file, problem } of await writeGenerated(root)) {
    console.log(`${problem === 'left over' ? 'removed' : 'wrote'} ${file}`);
  }
  return 0;
}

async function check(): Promise<number> {
  const differences = await compareGenerated(root);
  for (const { file, problem } of differences) console.error(`${file}: ${problem}`);
  if (differences.length === 0) return 0;
  console.error('generated files are not what their inputs give: run npm run generate and commit the result');
  return 1;
}

async function refresh(fetchDocument: FetchDocument): Promise<void> {
  const server = await fetchInputs(fetchDocument);
  const before = await readInputs(root).catch(() => ({ version: 'nothing', documents: new Map() }));
  for (const difference of differingInputs(before, server)) console.log(`changed ${difference}`);
  await writeInputs(root, server);
  console.log(`openapi/ was ${before.version} and is ${server.version} now`);
}

/** kubectl reads documents with whatever credentials the developer's kubeconfig has, exec plugins included. */
function kubectl({ kubeconfig, context }: { kubeconfig?: string; context?: string }): FetchDocument {
  const run = promisify(execFile);
  const options = [...(kubeconfig ? ['--kubeconfig', kubeconfig] : []), ...(context ? ['--context', context] : [])];
  return async (path) => {
    const { stdout } = await run('kubectl', [...options, 'get', '--raw', path], { maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  };
}
