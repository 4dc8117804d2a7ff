import { quoteText, yamlNestsDeeper } from '@bowline/machinery';
import { Composer, type Document, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, Parser } from 'yaml';
import { plainYaml } from './plain-yaml.ts';

/** YamlText is a YAML document as plain JSON, with the lines of its fields. */
export interface YamlText {
  readonly value: unknown;
  /** The line of a field: `secrets[1].path`. */
  readonly lineOf: (field: string) => number | undefined;
}

/** YamlProblem reports why a text cannot be parsed; the message names the line if it is known. */
export class YamlProblem extends Error {
  override readonly name = 'YamlProblem';
}

/** MAX_TEXT_BYTES is the maximum size of an annotation. */
export const MAX_TEXT_BYTES = 65_536;

// The library takes tens of microseconds for each token, and blocks the process. A list of 20 secrets with all fields
// has 2,000.
const MAX_TOKENS = 16_384;

// `secrets`, an entry, its `keys`, a key. Deeper nesting is not a valid request, and the library's parser is recursive:
// a stack overflow can end the whole process.
const MAX_DEPTH = 8;

/**
 * readYaml parses the part of YAML that users write by hand and that is unambiguous: maps with text as keys, lists and
 * plain values, in one document. JSON is such a text. It throws a YamlProblem for anything else.
 */
export function readYaml(text: string): YamlText {
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES)
    throw new YamlProblem(
      `the annotation has ${Buffer.byteLength(text)} bytes, but at most ${MAX_TEXT_BYTES} are allowed; shorten it`,
    );
  const plain = plainYaml(text);
  if (plain) return { value: plain.value, lineOf: (field) => plain.lines.get(field) };
  const lines = new LineCounter();
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  const { contents } = onlyDocument(composed(text, lines), lineAt);
  const linesByField = new Map<string, number>();
  return { value: toPlainValue(contents, '', { lineAt, linesByField }), lineOf: (field) => linesByField.get(field) };
}

function composed(text: string, lines: LineCounter): readonly Document[] {
  // There are at most two tokens per character: the library emits an extra one at the start of a text.
  if (text.length > MAX_TOKENS / 2 && hasMoreTokens(text, MAX_TOKENS))
    throw new YamlProblem('the annotation has too many YAML tokens; shorten it');
  const parsed = [...new Parser(lines.addNewLine).parse(text)];
  if (parsed.some((token) => yamlNestsDeeper(token, MAX_DEPTH)))
    throw new YamlProblem(`the annotation is nested deeper than ${MAX_DEPTH} levels; a request needs at most 4`);
  // Duplicate keys are checked below: the library compares each key with all others.
  const composer = new Composer({
    prettyErrors: false,
    uniqueKeys: false,
    merge: false,
    version: '1.2',
    logLevel: 'silent',
  });
  return [...composer.compose(parsed)];
}

function hasMoreTokens(text: string, limit: number): boolean {
  let tokens = 0;
  for (const _ of new Lexer().lex(text)) if (++tokens > limit) return true;
  return false;
}

function onlyDocument(documents: readonly Document[], lineAt: (offset: number) => number): Pick<Document, 'contents'> {
  const [document, second] = documents;
  const [error] = document?.errors ?? [];
  if (error) throw new YamlProblem(`line ${lineAt(error.pos[0])}: ${lowerFirst(error.message)}; correct the YAML`);
  if (second)
    throw new YamlProblem(`line ${lineAt(second.range?.[0] ?? 0)}: a second YAML document starts here; keep only one`);
  if (document?.directives?.yaml.explicit === true)
    throw new YamlProblem('line 1: directives such as %YAML are not supported; remove them');
  return document ?? { contents: null };
}

interface LineContext {
  readonly lineAt: (offset: number) => number;
  /** Lines by field, filled in during conversion. */
  readonly linesByField: Map<string, number>;
}

function toPlainValue(node: unknown, field: string, lineContext: LineContext): unknown {
  if (node === null || node === undefined) return null;
  const line = lineOf(node, lineContext);
  if (isAlias(node)) throw refused(line, `the alias *${node.source} is not supported; write the value itself`);
  if (!isMap(node) && !isSeq(node) && !isScalar(node))
    throw refused(line, 'not a YAML value; write a string, a list or a map');
  if (node.anchor !== undefined)
    throw refused(line, `the anchor &${node.anchor} is not supported; repeat the value where it is needed`);
  if (node.tag !== undefined)
    throw refused(line, `the tag ${node.tag} is not supported; write the value without a tag`);
  if (isScalar(node)) return node.value;
  if (isSeq(node)) return node.items.map((item, index) => toMember(item, `${field}[${index}]`, line, lineContext));
  const members = new Map<string, unknown>();
  for (const { key, value } of node.items) {
    const keyLine = lineOf(key, lineContext) ?? line;
    const name = toPlainValue(key, field, lineContext);
    if (typeof name !== 'string') throw refused(keyLine, 'a key is not a string; put it in quotes');
    if (name === '<<') throw refused(keyLine, 'the merge key << is not supported; repeat the fields');
    if (members.has(name)) throw refused(keyLine, `the key ${quoteText(name)} is duplicated; remove one of them`);
    members.set(name, toMember(value, field === '' ? name : `${field}.${name}`, keyLine, lineContext));
  }
  // `__proto__` is a key like any other.
  return Object.fromEntries(members);
}

/** The line of a member is that of its key: a block starts on the next line. */
function toMember(node: unknown, field: string, line: number | undefined, lineContext: LineContext): unknown {
  const at = lineOf(node, lineContext) ?? line;
  const isItem = field.endsWith(']');
  const memberLine = isItem ? at : line;
  if (memberLine !== undefined) lineContext.linesByField.set(field, memberLine);
  return toPlainValue(node, field, lineContext);
}

function lineOf(node: unknown, { lineAt }: LineContext): number | undefined {
  const range = isMap(node) || isSeq(node) || isScalar(node) || isAlias(node) ? node.range : undefined;
  return range ? lineAt(range[0]) : undefined;
}

function refused(line: number | undefined, problem: string): YamlProblem {
  return new YamlProblem(line === undefined ? problem : `line ${line}: ${problem}`);
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`.replace(/\.$/, '');
}
