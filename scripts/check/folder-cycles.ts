import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repositoryRoot, sourceFiles } from '../repository.ts';
import { importsOf, testPattern } from './dependency-directions.ts';

/** Import is one relative import: the file that contains it and the file that it names, both relative to the root. */
export interface Import {
  readonly from: string;
  readonly to: string;
}

/** The packages' source folders. Each one is checked by itself; `dependencyDirections` checks between them. */
const SOURCES = /^(?:packages|operators|apps)\/[^/]+\/src\//;

/**
 * folderCycles reports the import cycles between siblings, at every depth below a package's `src`: its folders, and the
 * folders inside each of them. A file next to folders counts as a sibling, so that cycles through files are found too.
 * Cycles between files of one folder are not reported. Tests are not checked: a test may import whatever it needs.
 */
export function folderCycles(imports: readonly Import[] = repositoryImports()): string[] {
  return [...siblingGraphs(imports)].flatMap(([folder, edges]) =>
    cyclesOf(edges)
      .filter((cycle) => cycle.some((node) => !node.endsWith('.ts')))
      .map((cycle) => describe(folder, cycle, edges)),
  );
}

/** Edges maps an importing sibling to the siblings that it imports, each with one import as an example. */
type Edges = Map<string, Map<string, Import>>;

/** siblingGraphs lifts each import to the one depth at which its two files are in different siblings. */
function siblingGraphs(imports: readonly Import[]): Map<string, Edges> {
  const graphs = new Map<string, Edges>();
  for (const each of imports) {
    const from = each.from.split('/');
    const to = each.to.split('/');
    const depth = from.findIndex((part, index) => part !== to[index]);
    const importer = from[depth];
    const imported = to[depth];
    if (importer === undefined || imported === undefined) continue;
    const folder = from.slice(0, depth).join('/');
    const edges = graphs.get(folder) ?? new Map<string, Map<string, Import>>();
    const targets = edges.get(importer) ?? new Map<string, Import>();
    if (!targets.has(imported)) targets.set(imported, each);
    graphs.set(folder, edges.set(importer, targets));
  }
  return graphs;
}

/** cyclesOf returns the strongly connected components of at least two nodes (Tarjan's algorithm). */
function cyclesOf(edges: Edges): string[][] {
  const cycles: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const visit = (node: string): void => {
    index.set(node, index.size);
    low.set(node, index.size - 1);
    stack.push(node);
    for (const next of edges.get(node)?.keys() ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0));
    }
    if (low.get(node) !== index.get(node)) return;
    const component = stack.splice(stack.indexOf(node));
    if (component.length > 1) cycles.push(component.sort());
  };
  for (const node of edges.keys()) if (!index.has(node)) visit(node);
  return cycles;
}

function describe(folder: string, cycle: readonly string[], edges: Edges): string {
  const shown = cycle.flatMap((node) =>
    [...(edges.get(node) ?? [])]
      .filter(([target]) => cycle.includes(target))
      .map(([, { from, to }]) => `  ${from.slice(folder.length + 1)} imports ${to.slice(folder.length + 1)}`),
  );
  return [`${folder}: ${cycle.join(', ')} import each other`, ...shown].join('\n');
}

function repositoryImports(): Import[] {
  return ['packages', 'operators', 'apps']
    .flatMap((folder) => sourceFiles(folder, '.ts'))
    .filter((file) => SOURCES.test(file) && !testPattern.test(file))
    .flatMap((from) =>
      importsOf(readFileSync(join(repositoryRoot, from), 'utf8'))
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => ({ from, to: join(dirname(from), specifier) })),
    );
}
