import type { KubernetesObject } from '@bowline/kubernetes';
import { BowlineError, command } from '@bowline/runtime';
import type { Command } from '@bowline/runtime/manager';
import { config } from '../config.ts';
import { conflictsIn } from '../resolve/hold.ts';
import { resolve } from '../resolve/resolve.ts';
import { conflictColumns, conflictError } from './conflict-table.ts';
import { readObjects } from './read-objects.ts';
import { renderOperands } from './render-operands.ts';

/** Manifests of five objects have a few kilobytes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** renderCommand prints the objects that the operator would write: `bowline ztwim render`. */
export const renderCommand: Command = command({
  name: 'render',
  summary: 'Prints the objects that the operator creates for manifests of its kinds, without a cluster.',
  inputs: { manifests: { summary: 'objects of the kinds of ZTWIM', maxBytes: MAX_BYTES, manifests: true } },
  options: config,
  output: {
    columns: [
      { name: 'Kind', value: ({ kind }: KubernetesObject) => kind },
      { name: 'Namespace', value: ({ metadata }) => metadata?.namespace },
      { name: 'Name', value: ({ metadata }) => metadata?.name },
    ],
    manifests: true,
  },
  run: async ({ inputs, options, print, printTable }) => {
    const { objects, problems } = readObjects(inputs.manifests);
    if (problems.length > 0) throw refuse(problems, print);
    const conflicts = conflictsIn(resolve(objects.parent, objects.operands));
    if (conflicts.length > 0) {
      printTable(conflicts, conflictColumns);
      throw conflictError(conflicts);
    }
    const rendered = renderOperands(objects, { config: options, isOpenShift: options.platform === 'openshift' });
    const held = rendered.flatMap(({ kind, problem }) => (problem === undefined ? [] : [`${kind}: ${problem}`]));
    if (held.length > 0) throw refuse(held, print);
    if (rendered.length === 0) throw refuse(['there is no operand; pass a SpireServer, for example'], print);
    for (const { kind, warnings } of rendered) for (const warning of warnings) print(`warning: ${kind}: ${warning}`);
    return rendered.flatMap(({ objects: manifests }) => manifests);
  },
});

/** refuse prints every problem but the first, which becomes the error. */
function refuse([first = '', ...others]: readonly string[], print: (line: string) => void): BowlineError {
  for (const problem of others) print(problem);
  return new BowlineError('BOWLINE_ZTWIM_MANIFEST_INVALID', `cannot render: ${first}`);
}
