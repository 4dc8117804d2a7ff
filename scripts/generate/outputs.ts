import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { emitSchemaModules, emitSchemas } from './emit-schemas.ts';
import { emitEntry, emitTypes } from './emit-types.ts';
import { readInputs } from './inputs.ts';
import { KIND_PAGE, OPERATOR_PAGES } from './kind-pages.ts';
import { createModel } from './model.ts';
import type { Inputs } from './open-api.ts';

/** These folders contain only generated files: any other file in them is left over from an earlier run. */
const TYPES = 'packages/kubernetes/src/generated';
const SCHEMAS = 'packages/kubernetes/src/schemas/generated';

/** Difference is a generated file that does not match the inputs. */
export interface Difference {
  /** Relative to the repository root. */
  readonly file: string;
  readonly problem: 'differs' | 'left over' | 'missing';
}

/** Pages holds generated pages by their path, relative to the repository root. */
type Pages = ReadonlyMap<string, string>;

/** outputsOf returns the text of every generated file by its path, relative to the repository root. */
export function outputsOf(inputs: Inputs): ReadonlyMap<string, string> {
  const model = createModel(inputs);
  const outputs = new Map<string, string>();
  for (const module of model.modules) {
    outputs.set(`${TYPES}/${module}.ts`, emitTypes(model, module));
    outputs.set(`${SCHEMAS}/${module}.ts`, emitSchemas(model, module));
  }
  outputs.set(`${TYPES}/entry.ts`, emitEntry(model));
  outputs.set(`${SCHEMAS}/modules.ts`, emitSchemaModules(model));
  return outputs;
}

/**
 * compareGenerated returns the generated files that do not match the committed inputs. `pages` are the reference pages
 * of the operators' kinds, which need no input but the source. It needs only Node and writes nothing.
 */
export async function compareGenerated(root: string, pages: Pages = new Map()): Promise<readonly Difference[]> {
  const outputs = new Map([...outputsOf(await readInputs(root)), ...pages]);
  const present = await presentFiles(root);
  const differences: Difference[] = [];
  for (const [file, text] of outputs) {
    if (!present.has(file)) differences.push({ file, problem: 'missing' });
    else if ((await readFile(join(root, file), 'utf8')) !== text) differences.push({ file, problem: 'differs' });
  }
  for (const file of present) if (!outputs.has(file)) differences.push({ file, problem: 'left over' });
  return differences;
}

/** writeGenerated updates the generated files and returns what it changed. */
export async function writeGenerated(root: string, pages: Pages = new Map()): Promise<readonly Difference[]> {
  const outputs = new Map([...outputsOf(await readInputs(root)), ...pages]);
  const differences = await compareGenerated(root, pages);
  for (const { file } of differences) {
    const text = outputs.get(file);
    if (text === undefined) {
      await rm(join(root, file));
    } else {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), text);
    }
  }
  return differences;
}

async function presentFiles(root: string): Promise<ReadonlySet<string>> {
  const files = new Set<string>();
  for (const folder of [TYPES, SCHEMAS]) {
    for (const file of await readdir(join(root, folder)).catch(absent)) files.add(`${folder}/${file}`);
  }
  for (const operator of await readdir(join(root, OPERATOR_PAGES)).catch(absent)) {
    const pages = await readdir(join(root, OPERATOR_PAGES, operator));
    if (pages.includes(KIND_PAGE)) files.add(`${OPERATOR_PAGES}/${operator}/${KIND_PAGE}`);
  }
  return files;
}

function absent(error: unknown): string[] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}
