import type { CommandManifest } from '@bowline/runtime/manager';
import { type Document, isNode, LineCounter, parseAllDocuments, YAMLError } from 'yaml';
import { lineOfField, stepsOf, type YamlSource } from '../config/yaml-lines.ts';

/** A manifest may use aliases, but not to expand a small file into a huge object. */
const MAX_ALIASES = 100;

/** ManifestProblem is thrown for text that contains no Kubernetes objects. Its message starts with file and line. */
export class ManifestProblem extends Error {
  override readonly name = 'ManifestProblem';
}

/** readManifests returns the objects in a file: YAML or JSON, any number of documents, and the items of Lists. */
export function readManifests(file: string, text: string): readonly CommandManifest[] {
  const lines = new LineCounter();
  const documents = [...parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })];
  return documents.flatMap((document) => {
    const [problem] = document.errors;
    if (problem) throw problemAt(file, lines.linePos(problem.pos[0]).line, problem);
    return objectsIn({ file, document, lines }, plainValue({ file, document, lines }), []);
  });
}

interface Source extends YamlSource {
  readonly file: string;
  readonly document: Document;
}

function plainValue(source: Source): unknown {
  try {
    return source.document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown;
  } catch (error) {
    throw problemAt(source.file, lineAt(source, []), error);
  }
}

function objectsIn(source: Source, value: unknown, path: readonly (string | number)[]): readonly CommandManifest[] {
  // A document may be empty, for example after a last `---`.
  if (value === null && path.length === 0) return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw problemAt(source.file, lineAt(source, path), 'this is not a Kubernetes object; it must be a map with a kind');
  }
  const object = value as Readonly<Record<string, unknown>>;
  const { kind, items } = object;
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
    return items.flatMap((item: unknown, at) => objectsIn(source, item, [...path, 'items', at]));
  }
  const { file } = source;
  return [{ object, file, lineOf: (field = '') => lineAt(source, path, stepsOf(field)) }];
}

function lineAt(source: Source, path: readonly (string | number)[], field: readonly (string | number)[] = []): number {
  const inside = field.length === 0 ? undefined : lineOfField(source, [...path, ...field]);
  if (inside !== undefined) return inside;
  const node: unknown = path.length === 0 ? source.document.contents : source.document.getIn(path, true);
  const [start] = (isNode(node) ? node.range : undefined) ?? source.document.range ?? [0];
  return source.lines.linePos(start).line;
}

function problemAt(file: string, line: number, problem: unknown): ManifestProblem {
  const text = problem instanceof Error ? problem.message : String(problem);
  const isSyntax = problem instanceof YAMLError;
  return new ManifestProblem(`${file}:${line}: ${text}${isSyntax ? '; correct the YAML' : ''}`, { cause: problem });
}
