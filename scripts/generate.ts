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
  --check            only compare; exit 1 if a generated file does not match its input
  --fetch            first refresh the openapi/ folder from a running API server, with kubectl
  --kubeconfig FILE  with --fetch: the kubeconfig (default: as in kubectl)
  --context NAME     with --fetch: the context of the kubeconfig (default: the current context)
  --go-modules FOLDER  with or without --fetch: refresh the protobuf field numbers from a Go module cache
                     (\`go env GOMODCACHE\`) that contains the Kubernetes version of openapi/
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
      return '--check and --go-modules cannot be combined: --check only compares, --go-modules writes';
    if (values.check && values.fetch)
      return '--check and --fetch cannot be combined: --check only compares, --fetch writes';
    if (!values.fetch && (values.kubeconfig ?? values.context) !== undefined) {
      return '--kubeconfig and --context require --fetch';
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
  console.error('generated files do not match their inputs: run npm run generate and commit the result');
  return 1;
}

async function refresh(fetchDocument: FetchDocument): Promise<void> {
  const server = await fetchInputs(fetchDocument);
  // The existing input may be missing or damaged (a merge conflict): it is only described here, and then replaced.
  const before = await readInputs(root).catch(() => ({ version: 'unreadable', documents: new Map() }));
  for (const difference of differingInputs(before, server)) console.log(`changed ${difference}`);
  await writeInputs(root, server);
  console.log(`openapi/ was ${before.version} and is now ${server.version}`);
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
