import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { normalise, type ServerDocument, serverPaths } from './normalise.ts';
import type { InputDocument, Inputs } from './open-api.ts';

/** INPUT_FOLDER is the folder of the committed input, relative to the repository root. */
export const INPUT_FOLDER = 'packages/kubernetes/openapi';

/** FetchDocument returns the body of a GET request to the API server. */
export type FetchDocument = (path: string) => Promise<string>;

/** fetchInputs reads the documents from a running server, one after the other. */
export async function fetchInputs(fetchDocument: FetchDocument): Promise<Inputs> {
  const { gitVersion } = JSON.parse(await fetchDocument('/version')) as { gitVersion: string };
  const server = new Map<string, ServerDocument>();
  for (const [module, path] of serverPaths()) {
    server.set(module, JSON.parse(await fetchDocument(path)) as ServerDocument);
  }
  return { version: gitVersion, documents: normalise(server) };
}

/** readInputs reads the committed documents. */
export async function readInputs(root: string): Promise<Inputs> {
  const folder = join(root, INPUT_FOLDER);
  const documents = new Map<string, InputDocument>();
  for (const file of (await readdir(folder)).sort()) {
    if (!file.endsWith('.json')) continue;
    documents.set(
      file.slice(0, -'.json'.length),
      JSON.parse(await readFile(join(folder, file), 'utf8')) as InputDocument,
    );
  }
  return { version: (await readFile(join(folder, 'VERSION'), 'utf8')).trim(), documents };
}

/** writeInputs replaces the committed documents. */
export async function writeInputs(root: string, inputs: Inputs): Promise<void> {
  const folder = join(root, INPUT_FOLDER);
  await mkdir(folder, { recursive: true });
  for (const file of await readdir(folder)) if (file.endsWith('.json')) await rm(join(folder, file));
  for (const [module, document] of inputs.documents) await writeFile(join(folder, `${module}.json`), render(document));
  await writeFile(join(folder, 'VERSION'), `${inputs.version}\n`);
}

/**
 * differingInputs compares two sets of documents and returns the differences, as `module: path or definition`. The
 * patch version of the server is not compared: patch releases keep the API.
 */
export function differingInputs(committed: Inputs, server: Inputs): readonly string[] {
  const differences: string[] = [];
  for (const module of new Set([...committed.documents.keys(), ...server.documents.keys()])) {
    const [left, right] = [committed.documents.get(module), server.documents.get(module)];
    if (left?.info !== right?.info)
      differences.push(`${module}: ${left?.info ?? 'absent'} is now ${right?.info ?? 'absent'}`);
    for (const part of ['paths', 'schemas'] as const) {
      const [before, after] = [left?.[part] ?? {}, right?.[part] ?? {}];
      for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
        if (JSON.stringify(before[name]) !== JSON.stringify(after[name])) differences.push(`${module}: ${name}`);
      }
    }
  }
  return differences;
}

/** render writes one path or definition per line, so that a diff shows what changed. */
function render(document: InputDocument): string {
  const lines = (members: Readonly<Record<string, unknown>>): string => {
    const entries = Object.entries(members).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
    return entries.length === 0 ? '{}' : `{\n${entries.join(',\n')}\n}`;
  };
  return `{\n"info":${JSON.stringify(document.info)},\n"paths":${lines(document.paths)},\n"schemas":${lines(document.schemas)}\n}\n`;
}
