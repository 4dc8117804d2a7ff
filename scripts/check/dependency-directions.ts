import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot, sourceFiles } from '../repository.ts';

/**
 * The imports allowed for each part: `apps → operators → runtime → machinery → kubernetes`. In control-plane, the
 * server is below the runtime so that it cannot depend on the client that it is used to test; its launcher, workload
 * controllers, node agent and rig use the runtime.
 */
const allowed: readonly { readonly folder: string; readonly mayImport: readonly string[] }[] = [
  { folder: 'packages/kubernetes/src', mayImport: [] },
  { folder: 'packages/machinery/src', mayImport: ['@bowline/kubernetes'] },
  { folder: 'packages/runtime/src', mayImport: ['@bowline/machinery', '@bowline/kubernetes'] },
  { folder: 'packages/control-plane/src/server', mayImport: ['@bowline/machinery', '@bowline/kubernetes'] },
  {
    folder: 'packages/control-plane/src',
    mayImport: ['@bowline/runtime', '@bowline/machinery', '@bowline/kubernetes'],
  },
  { folder: 'operators', mayImport: ['@bowline/runtime', '@bowline/machinery', '@bowline/kubernetes'] },
  { folder: 'apps', mayImport: ['*'] },
];

/** Matches a static import, a re-export or a dynamic import of a literal. */
const importPattern = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)['"]([^'"]+)['"]/g;

/** testPattern matches tests, and files that only tests import. */
export const testPattern = /\.test(?:-support)?\.ts$/;

/** importsOf lists the module specifiers of a source text. */
export function importsOf(source: string): string[] {
  return [...source.matchAll(importPattern)].flatMap((match) => (match[1] === undefined ? [] : [match[1]]));
}

/** directionProblem returns why `file` may not import `specifier`, or undefined if it may. */
export function directionProblem(file: string, specifier: string): string | undefined {
  const isTest = testPattern.test(file);
  const rule = allowed.find(({ folder }) => file.startsWith(`${folder}/`));
  if (rule === undefined || rule.mayImport.includes('*')) return undefined;
  if (specifier.startsWith('.')) return relativeProblem(file, specifier, rule.folder);
  if (!specifier.startsWith('@bowline/') && specifier !== 'bowline') return undefined;
  const owner = specifier.split('/').slice(0, 2).join('/');
  // A test may use the rig, which is above everything else, and what is needed to access it.
  if (isTest && ['@bowline/control-plane', '@bowline/runtime'].includes(owner)) return undefined;
  if (rule.mayImport.includes(owner) || owner === packageName(file)) return undefined;
  return `${file} imports ${specifier}; ${rule.folder} may import ${rule.mayImport.join(', ') || 'no other package'}`;
}

function relativeProblem(file: string, specifier: string, folder: string): string | undefined {
  const target = join(file, '..', specifier);
  // A test may use whatever it needs.
  if (testPattern.test(file)) return undefined;
  if (!target.startsWith(`${packageFolder(file)}/`)) {
    return `${file} reaches into ${target}; import the package by its name`;
  }
  if (folder === 'packages/control-plane/src/server' && !target.startsWith(`${folder}/`)) {
    return `${file} imports ${target}; the server must not depend on it`;
  }
  return undefined;
}

const packageFolder = (file: string): string => file.split('/').slice(0, 2).join('/');
const packageName = (file: string): string => `@bowline/${file.split('/')[1]}`;

/** dependencyDirections lists every import that violates the dependency directions of the repository. */
export function dependencyDirections(): string[] {
  const folders = [...new Set(allowed.map(({ folder }) => folder.split('/')[0] ?? ''))];
  return folders.flatMap((folder) => {
    try {
      return sourceFiles(folder, '.ts').flatMap((file) =>
        importsOf(readFileSync(join(repositoryRoot, file), 'utf8')).flatMap(
          (specifier) => directionProblem(file, specifier) ?? [],
        ),
      );
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  });
}
