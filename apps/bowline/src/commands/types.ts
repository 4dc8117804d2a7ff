import { readFile, writeFile } from 'node:fs/promises';
import type { CustomResourceDefinition } from '@bowline/kubernetes/apiextensions-v1';
import { BowlineError } from '@bowline/runtime';
import { connect, createClient } from '@bowline/runtime/client';
import { Command } from 'commander';
import { addClusterOptions, type ClusterOptions, findCluster } from '../cluster/connect-cluster.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { fetchDefinitions, readDefinitions } from '../types/read-definitions.ts';
import { GENERATED, typeModule } from '../types/type-module.ts';
import type { CommandInput } from './command-input.ts';

interface TypesOptions extends ClusterOptions {
  readonly crd?: readonly string[];
  readonly versions?: readonly string[];
  readonly output?: string;
}

const list = (text: string): readonly string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** typesCommand returns the command `bowline types`. */
export function typesCommand({ io }: CommandInput): Command {
  return addClusterOptions(new Command('types'))
    .description('Generates a TypeScript module from the CustomResourceDefinitions of other projects.')
    .argument('[file]', 'file with CRDs as YAML or JSON; other objects in it are ignored')
    .option(
      '--crd <a,b>',
      'only these CRDs, by name, such as certificates.cert-manager.io; read from the cluster if no file is given',
      list,
    )
    .option('--versions <a,b>', 'only these versions (default: all served versions)', list)
    .option('--output <file>', 'output file (default: standard output)')
    .addHelpText(
      'after',
      `
Generates for each kind an interface, with the descriptions of the CRD, and a constant of the same name to pass to the client,
caches and controllers. If a kind has several versions, its names include the version.

Examples:
  bowline types cert-manager.crds.yaml --crd certificates.cert-manager.io --output src/cert-manager.ts
  bowline types --context prod --crd gateways.gateway.networking.k8s.io --versions v1 --output src/gateway.ts`,
    )
    .action(async (file: string | undefined, options: TypesOptions) => {
      const definitions = await definitionsOf(file, options, io);
      const text = typeModule(definitions, options.versions);
      if (options.output === undefined) return io.out(text);
      await write(options.output, text);
      io.err(`wrote ${options.output}\n`);
    });
}

async function definitionsOf(
  file: string | undefined,
  { crd, ...cluster }: TypesOptions,
  io: Io,
): Promise<readonly CustomResourceDefinition[]> {
  if (file === undefined) return await fetchFrom(cluster, crd, io);
  if (cluster.context !== undefined || cluster.kubeconfig !== undefined) {
    throw new BowlineError(
      'BOWLINE_ARGUMENT_INVALID',
      'bowline types reads either a file or a cluster: omit the file, or omit --context and --kubeconfig',
    );
  }
  const found = await readDefinitions(file);
  if (crd === undefined) return found;
  const byName = new Map(found.map((each) => [each.metadata?.name ?? '', each]));
  return crd.map((name) => {
    const definition = byName.get(name);
    if (definition) return definition;
    throw new BowlineError(
      'BOWLINE_TYPES_INPUT',
      `${file} contains no CustomResourceDefinition ${name}; it contains ${[...byName.keys()].join(', ')}`,
    );
  });
}

async function fetchFrom(
  cluster: ClusterOptions,
  names: readonly string[] | undefined,
  io: Io,
): Promise<readonly CustomResourceDefinition[]> {
  if (names === undefined || names.length === 0) {
    throw new BowlineError(
      'BOWLINE_ARGUMENT_INVALID',
      'bowline types needs a file with CRDs, or --crd with the names of the CRDs to read from the cluster',
    );
  }
  using interruption = listenForInterrupt();
  const { config } = await findCluster(cluster, io.env);
  await using client = createClient({ transport: connect(config) });
  return await fetchDefinitions(client, names, interruption.signal);
}

/** Only a file that an earlier run wrote is replaced. */
async function write(path: string, text: string): Promise<void> {
  try {
    if (!(await readFile(path, 'utf8')).startsWith(GENERATED)) {
      throw new BowlineError(
        'BOWLINE_TYPES_OUTPUT',
        `${path} exists and was not written by bowline types; choose another file with --output, or remove it`,
      );
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  await writeFile(path, text);
}
