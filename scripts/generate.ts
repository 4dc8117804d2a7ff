// npm run generate [-- --check | --fetch [--kubeconfig FILE] [--context NAME] [--go-modules FOLDER]]
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { FIELD_NUMBERS, writeFieldNumbers } from './generate/emit-fields.ts';
import { differingInputs, type FetchDocument, fetchInputs, readInputs, writeInputs } from './generate/inputs.ts';
import { kindPages } from './generate/kind-pages.ts';
import { compareGenerated, writeGenerated } from './generate/outputs.ts';

const USAGE = `usage: npm run generate -- [options]

Without options: writes the generated files of packages/kubernetes from its committed openapi/ folder, and the
reference page of every operator's kinds from their schemas.
  --check            compare only; exit 1 when a generated file is not what its input gives
  --fetch            first read the openapi/ folder anew from a running API server, through kubectl
  --kubeconfig FILE  with --fetch: the kubeconfig to use (default: kubectl's own)
  --context NAME     with --fetch: the kubeconfig's context to use (default: the current one)
  --go-modules FOLDER  with or without --fetch: read the numbers that fields have in protobuf anew, from a Go module cache
                     (\`go env GOMODCACHE\`) that holds the Kubernetes of openapi/
`;

const root = fileURLToPath(new URL('..', import.meta.url));
process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === 'string') {
    console.error(`${options}\n\n${USAGE}`);
    return 2;
  }
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  if (options.check) return check();
  if (options.fetch) {
    try {
      await refresh(kubectl(options));
    } catch (error) {
      console.error(`openapi/ was not read from the server and is unchanged: ${messageOf(error)}`);
      return 1;
    }
  }
  const goModules = options['go-modules'];
  if (goModules !== undefined) {
    await writeFieldNumbers(root, goModules);
    console.log(`wrote ${FIELD_NUMBERS}`);
  }
  for (const { file, problem } of await writeGenerated(root, await kindPages())) {
    console.log(`${problem === 'left over' ? 'removed' : 'wrote'} ${file}`);
  }
  return 0;
}

/** readOptions returns the options, or what is wrong with them. */
function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        check: { type: 'boolean', default: false },
        fetch: { type: 'boolean', default: false },
        kubeconfig: { type: 'string' },
        context: { type: 'string' },
        'go-modules': { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.check && values['go-modules'] !== undefined)
      return '--check compares what is committed, --go-modules replaces it: give one of them';
    if (values.check && values.fetch)
      return '--check compares what is committed, --fetch replaces it: give one of them';
    if (!values.fetch && (values.kubeconfig ?? values.context) !== undefined) {
      return '--kubeconfig and --context mean something with --fetch only';
    }
    return values;
  } catch (error) {
    return messageOf(error);
  }
}

async function check(): Promise<number> {
  const differences = await compareGenerated(root, await kindPages());
  for (const { file, problem } of differences) console.error(`${file}: ${problem}`);
  if (differences.length === 0) return 0;
  console.error('generated files are not what their inputs give: run npm run generate and commit the result');
  return 1;
}

async function refresh(fetchDocument: FetchDocument): Promise<void> {
  const server = await fetchInputs(fetchDocument);
  // The existing input may be missing or damaged (a merge conflict): it is only described here, and then replaced.
  const before = await readInputs(root).catch(() => ({ version: 'unreadable', documents: new Map() }));
  for (const difference of differingInputs(before, server)) console.log(`changed ${difference}`);
  await writeInputs(root, server);
  console.log(`openapi/ was ${before.version} and is ${server.version} now`);
}

/** kubectl reads documents with the credentials of the developer's kubeconfig, including exec plugins. */
function kubectl({ kubeconfig, context }: { kubeconfig?: string; context?: string }): FetchDocument {
  const run = promisify(execFile);
  const options = [...(kubeconfig ? ['--kubeconfig', kubeconfig] : []), ...(context ? ['--context', context] : [])];
  return async (path) => {
    try {
      const { stdout } = await run('kubectl', [...options, 'get', '--raw', path], { maxBuffer: 64 * 1024 * 1024 });
      return stdout;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
        throw new Error('kubectl is not on the PATH; install it, or add its folder to the PATH');
      }
      throw error;
    }
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
